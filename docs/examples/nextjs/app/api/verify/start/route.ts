// POST /api/verify/start {recipient}: sends a code to a visitor who signs up.
import { randomBytes } from 'node:crypto'
import { countersign, readBody, refuseError, started } from '../verifications'

export async function POST(request: Request): Promise<Response> {
  try {
    const { recipient } = await readBody(request)
    // Next.js tells the address in this header only. Your proxy puts the visitor's at its end; what stands before it may be invented.
    const client_ip = request.headers.get('x-forwarded-for')?.split(',').at(-1)?.trim() ?? null
    const { otp_id, masked_recipient, channel } = await countersign().send({ recipient, client_ip })
    const visitor = randomBytes(32).toString('hex')
    started.set(visitor, { otp_id, recipient })
    const secure = process.env.NODE_ENV === 'production' ? '; Secure' : ''
    const headers = { 'set-cookie': `visitor=${visitor}; Path=/; HttpOnly; SameSite=Lax${secure}` }
    return Response.json({ sent_to: masked_recipient, channel }, { headers })
  } catch (error) {
    return refuseError(error)
  }
}
