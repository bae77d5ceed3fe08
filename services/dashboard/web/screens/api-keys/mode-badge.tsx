// The mode of a key, or of what was sent with one.
import { Badge } from '../../ui/badge.tsx'
import { type KeyMode, MODE_NAMES } from './key-text.ts'

export const ModeBadge = ({ of: mode }: { of: KeyMode }) => (
  <Badge tone={mode === 'live' ? 'info' : 'neutral'}>{MODE_NAMES[mode]}</Badge>
)
