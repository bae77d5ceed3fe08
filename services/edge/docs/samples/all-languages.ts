// In: a request. Out: the same request in every language of the reference.
import { writeCurl } from './curl.ts'
import { writeGo } from './go.ts'
import { writePhp } from './php.ts'
import { writePython } from './python.ts'
import type { Language, SampleRequest } from './request.ts'
import { writeTypeScript } from './typescript.ts'

/** `base` is the address of the server, without a slash at its end. */
export const writeSamples = (request: SampleRequest, base: string): Record<Language, string> => ({
  curl: writeCurl(request, base),
  typescript: writeTypeScript(request, base),
  python: writePython(request, base),
  go: writeGo(request, base),
  php: writePhp(request, base),
})
