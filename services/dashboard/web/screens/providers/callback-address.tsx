// The address that the vendor calls with receipts, and what to do with it.
import { CodeBlock } from '../../ui/code-block.tsx'
import { callbackAddress } from './provider-names.ts'
import { PROVIDER_TYPES, type ProviderType } from './provider-types.ts'

export function CallbackAddress({ type, appId, name }: { type: ProviderType; appId: string; name: string }) {
  const { callback } = PROVIDER_TYPES[type]
  if (callback === null || name === '') return null
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
