// Shows the widget of a vendor in the page, above everything else, and waits until it is solved. In: a challenge. Out: the token.
// The vendors' scripts have nearly the same functions, and run in the page itself: in a shadow root they would not.
import type { WidgetChallenge } from './types.ts'

/** What both vendors' scripts offer, under their names in `window`. */
interface VendorApi {
  render(place: HTMLElement, options: Record<string, unknown>): unknown
  remove?(widget: unknown): void
}

const SCRIPTS: Record<WidgetChallenge['type'], string> = {
  turnstile: 'https://challenges.cloudflare.com/turnstile/v0/api.js',
  hcaptcha: 'https://js.hcaptcha.com/1/api.js',
}
const LOADED = 'countersignWidgetLoaded'
/** A script that neither arrives nor fails, as behind some filters, must not leave a person waiting. */
const LOAD_TIMEOUT_MS = 10_000
/** Below the pictures of hCaptcha, which it puts above the whole page. */
const OVERLAY =
  'position:fixed;inset:0;z-index:2147483000;display:grid;place-items:center;align-content:center;gap:12px;background:#0009'

const page = globalThis as unknown as Record<string, unknown>
const loading = new Map<string, Promise<VendorApi>>()

/** The script of the vendor did not come to this page: it is blocked here, or the vendor is down. */
export class ScriptNotLoaded extends Error {}

/** A page may have the script already; an element with that id is found under the same name. */
const vendorApi = (type: WidgetChallenge['type']): VendorApi | null => {
  const api = page[type] as Partial<VendorApi> | undefined
  return typeof api?.render === 'function' ? (api as VendorApi) : null
}

function load(type: WidgetChallenge['type']): Promise<VendorApi> {
  const known = loading.get(type)
  if (known) return known
  const script = document.createElement('script')
  const loaded = new Promise<VendorApi>((resolve, reject) => {
    const present = vendorApi(type)
    if (present) return resolve(present)
    const fail = (): void => reject(new ScriptNotLoaded(`The script of ${type} could not be loaded.`))
    page[`${LOADED}_${type}`] = () => {
      const api = vendorApi(type)
      if (api) resolve(api)
      else fail()
    }
    script.onerror = fail
    setTimeout(fail, LOAD_TIMEOUT_MS)
    script.src = `${SCRIPTS[type]}?render=explicit&onload=${LOADED}_${type}`
    document.head.append(script)
  })
  loading.set(type, loaded)
  loaded.catch(() => {
    // The next challenge tries again.
    loading.delete(type)
    script.remove()
  })
  return loaded
}

export async function widgetToken({ type, site_key }: WidgetChallenge, signal?: AbortSignal): Promise<string> {
  const api = await load(type)
  signal?.throwIfAborted()
  const overlay = document.createElement('div')
  const place = document.createElement('div')
  const close = document.createElement('button')
  const focused = document.activeElement as HTMLElement | null
  overlay.setAttribute('style', OVERLAY)
  overlay.setAttribute('role', 'dialog')
  overlay.setAttribute('aria-modal', 'true')
  overlay.setAttribute('aria-label', type === 'turnstile' ? 'Turnstile' : 'hCaptcha')
  overlay.tabIndex = -1
  close.type = 'button'
  close.textContent = '✕'
  close.setAttribute('aria-label', 'Close')
  overlay.append(place, close)
  document.body.append(overlay)
  overlay.focus()
  let widget: unknown
  let stop = (): void => {}
  try {
    return await new Promise<string>((resolve, reject) => {
      const give = (why: string) => () => reject(new Error(why))
      stop = () => reject(signal?.reason)
      signal?.addEventListener('abort', stop)
      close.onclick = give('The widget was closed.')
      overlay.onkeydown = ({ key }) => key === 'Escape' && close.click()
      widget = api.render(place, {
        sitekey: site_key,
        callback: resolve,
        'error-callback': give('The widget failed.'),
        'timeout-callback': give('The widget was not solved in time.'),
      })
    })
  } finally {
    signal?.removeEventListener('abort', stop)
    api.remove?.(widget)
    overlay.remove()
    focused?.focus()
  }
}
