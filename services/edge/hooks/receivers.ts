// The logins that may hand us their codes, by the name in their address, /hooks/<name>/{app_id}.
import { kratos } from './kratos.ts'
import type { Receiver } from './receiver.ts'
import { supabase } from './supabase.ts'

export const RECEIVERS = { kratos, supabase } as const satisfies Record<string, Receiver>
