// WebOTP: browsers on phones give the code of a text message that is bound to the page's domain to the page itself.

interface OtpRequest extends CredentialRequestOptions {
  otp: { transport: string[] }
}

export function receiveCode(signal: AbortSignal, onCode: (code: string) => void): void {
  if (!('OTPCredential' in globalThis)) return
  const request: OtpRequest = { otp: { transport: ['sms'] }, signal }
  navigator.credentials.get(request).then(
    credential => credential && 'code' in credential && onCode(String(credential.code)),
    () => {}, // The person types it.
  )
}
