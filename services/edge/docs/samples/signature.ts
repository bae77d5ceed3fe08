// How a receiver of webhooks checks a signature, in every language. test/services/edge/docs/signature-samples.test.ts runs them against
// real signatures.
import { TYPESCRIPT_SIGNATURE_SAMPLE } from '../../../domain/webhooks/signature-sample.ts'
import type { Language } from './request.ts'

/** In the shell it is a way to try a recorded event, not a receiver: the comparison takes longer the more of a signature is right. */
const shell = `# TIMESTAMP and SIGNATURE from the headers, the raw body in body.json.
EXPECTED=$(printf '%s.' "$TIMESTAMP" | cat - body.json |
  openssl dgst -sha256 -hmac "$WEBHOOK_SECRET" | sed 's/^.* //')
AGE=$(( $(date +%s) - TIMESTAMP ))
if [ "$EXPECTED" = "$SIGNATURE" ] && [ "\${AGE#-}" -le 300 ]; then
  echo genuine
else
  echo forged
  exit 1
fi`

const python = `import hashlib
import hmac
import time


def is_genuine(raw_body: bytes, headers: dict, secret: str) -> bool:
    """raw_body is the body as it came, before any JSON parser."""
    timestamp = headers.get("X-Webhook-Timestamp", "")
    signature = headers.get("X-Webhook-Signature", "")
    signed = timestamp.encode() + b"." + raw_body
    expected = hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()
    is_fresh = timestamp.isdecimal() and abs(time.time() - int(timestamp)) <= 300
    return is_fresh and hmac.compare_digest(expected.encode(), signature.encode())`

const go = `package webhooks

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"time"
)

// IsGenuine takes the body as it came, before any JSON parser.
func IsGenuine(rawBody []byte, header http.Header, secret string) bool {
	timestamp := header.Get("X-Webhook-Timestamp")
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || time.Since(time.Unix(seconds, 0)).Abs() > 5*time.Minute {
		return false
	}
	signature, err := hex.DecodeString(header.Get("X-Webhook-Signature"))
	if err != nil {
		return false
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(timestamp + "."))
	mac.Write(rawBody)
	return hmac.Equal(signature, mac.Sum(nil))
}`

const php = `<?php
/** $rawBody is the body as it came: file_get_contents('php://input'). */
function isGenuine(string $rawBody, array $headers, string $secret): bool
{
    $timestamp = $headers['X-Webhook-Timestamp'] ?? '';
    $signature = $headers['X-Webhook-Signature'] ?? '';
    $expected = hash_hmac('sha256', "$timestamp.$rawBody", $secret);
    $isFresh = ctype_digit($timestamp) && abs(time() - (int) $timestamp) <= 300;
    return $isFresh && hash_equals($expected, $signature);
}`

export const SIGNATURE_SAMPLES: Record<Language, string> = {
  curl: shell,
  typescript: TYPESCRIPT_SIGNATURE_SAMPLE,
  python,
  go,
  php,
}
