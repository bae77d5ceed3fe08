// Codes of what was sent with a test key, read as a developer reads them: in the sandbox inbox, over HTTP.
import { connection, requestText } from './connection.ts'

const READERS = 32

export interface Code {
  otp_id: string
  code: string
}

export async function codesOf(url: URL, token: string, recipients: readonly string[]): Promise<Code[]> {
  const left = [...recipients]
  const codes: Code[] = []
  const read = async (): Promise<void> => {
    const lane = connection(url)
    for (let recipient = left.pop(); recipient !== undefined; recipient = left.pop()) {
      const path = `/admin/v1/sandbox/messages?recipient=${encodeURIComponent(recipient)}`
      const { body } = await lane.ask(requestText(url, { method: 'GET', path, key: token }))
      const [message] = JSON.parse(body)
      if (message) codes.push({ otp_id: message.otp_id, code: message.code })
      // Not delivered yet.
      else left.unshift(recipient)
    }
    lane.close()
  }
  await Promise.all(Array.from({ length: READERS }, read))
  return codes
}
