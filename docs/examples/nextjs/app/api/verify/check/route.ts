// POST /api/verify/check {code}: checks what the visitor typed, here on the backend, with a server key.
import { countersign, readBody, refuse, refuseError, started } from '../verifications'

export async function POST(request: Request): Promise<Response> {
  try {
    const visitor = /(?:^|; )visitor=([^;]+)/.exec(request.headers.get('cookie') ?? '')?.[1] ?? ''
    const verification = started.get(visitor)
    if (!verification) return refuse(409, 'Start again.')
    const { code } = await readBody(request)
    const { matched, attempts_left } = await countersign().verify({ otp_id: verification.otp_id, code })
    if (!matched) return refuse(422, `Wrong code. ${attempts_left} attempts are left.`)
    // A verification is accepted once: of two calls with the right code, only one still finds it here.
    if (!started.delete(visitor)) return refuse(409, 'Start again.')
    return Response.json({ verified: verification.recipient })
  } catch (error) {
    return refuseError(error)
  }
}
