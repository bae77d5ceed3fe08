// How a page solves a challenge, as JavaScript for a browser. test/flow/challenge.test.ts runs it. Its solver is that
// of clients/typescript/src/challenge-solver.ts, and docs/challenges.md shows the same: test/docs/examples.test.ts
// compares the three.
import { SAMPLE_NUMBER } from '../../../../machines/sample-number.ts'

export const CHALLENGE_SAMPLE = `// Sends, and where the API asks for it solves a challenge first: { recipient: '${SAMPLE_NUMBER}' } → the verification.
async function send(baseUrl, publishableKey, body) {
  const post = headers =>
    fetch(\`\${baseUrl}/api/v1/otp/send\`, {
      method: 'POST',
      headers: { authorization: \`Bearer \${publishableKey}\`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
  const first = await post({})
  if (first.status !== 403) return first.json()
  const { challenge, ...problem } = await first.json()
  if (!challenge) return problem
  const { salt, difficulty, signature } = challenge
  const solution = \`\${salt}.\${solveChallenge(salt, difficulty)}.\${signature}\`
  return (await post({ 'challenge-solution': solution })).json()
}

// A nonce for which SHA-256 of \`<salt>.<nonce>\` begins with \`difficulty\` zero bits. It takes up to a minute: run it
// in a Worker.
function solveChallenge(salt, difficulty, first = 1e9, tries = 8e9) {
  const h = new DataView(new ArrayBuffer(256)); const k = new DataView(new ArrayBuffer(256)); const w = new DataView(new ArrayBuffer(256))
  const primes = [2]
  for (let n = 3; primes.length < 64; n += 1) if (primes.every(prime => n % prime > 0)) primes.push(n)
  for (const [i, prime] of primes.entries()) {
    h.setUint32(i * 4, Math.sqrt(prime) * 2 ** 32)
    k.setUint32(i * 4, Math.cbrt(prime) * 2 ** 32)
  }
  const text = \`\${salt}.\${first}\`
  for (let i = 0; i < text.length; i += 1) w.setUint8(i, text.charCodeAt(i))
  w.setUint8(text.length, 128)
  w.setUint32(60, text.length * 8)
  const turn = (x, bits) => (x >>> bits) | (x << (32 - bits))
  for (let nonce = first; nonce < first + tries; nonce += 1) {
    for (let i = 64; i < 256; i += 4) {
      const x = w.getInt32(i - 60); const y = w.getInt32(i - 8)
      const mixed = (turn(x, 7) ^ turn(x, 18) ^ (x >>> 3)) + (turn(y, 17) ^ turn(y, 19) ^ (y >>> 10))
      w.setInt32(i, w.getInt32(i - 64) + w.getInt32(i - 28) + mixed)
    }
    let a = h.getInt32(0); let b = h.getInt32(4); let c = h.getInt32(8); let d = h.getInt32(12)
    let e = h.getInt32(16); let f = h.getInt32(20); let g = h.getInt32(24); let last = h.getInt32(28)
    for (let i = 0; i < 256; i += 4) {
      const s = last + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + k.getInt32(i) + w.getInt32(i)
      const t = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))
      last = g; g = f; f = e; e = (d + s) | 0; d = c; c = b; b = a; a = (s + t) | 0
    }
    if (Math.clz32(a + h.getInt32(0)) >= difficulty) return nonce
    let digit = text.length - 1
    for (; w.getUint8(digit) === 57; digit -= 1) w.setUint8(digit, 48)
    w.setUint8(digit, w.getUint8(digit) + 1)
  }
  return -1
}`
