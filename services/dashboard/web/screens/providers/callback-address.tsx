// The address that the vendor calls with receipts, and what to do with it.

import { declarationOf, type ProviderType } from '../../../../domain/tenancy/provider-types/list.ts'
import { CodeBlock } from '../../ui/code-block.tsx'
import { callbackAddress } from './provider-names.ts'

export function CallbackAddress({ type, appId, name }: { type: ProviderType; appId: string; name: string }) {
  const { callback } = declarationOf(type)
  if (callback === undefined || name === '') return null
  return (
    <div class="providers-callback">
      <CodeBlock label="Callback address" text={callbackAddress(location.origin, appId, name)} />
      <p class="hint">
        {callback.words} Vendors must reach it from the internet; where the API has another address than this page, put
        that in its place.
      </p>
    </div>
  )
}
