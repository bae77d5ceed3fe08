// The rotation of the data keys in words. In: what GET /privacy answers. Out: a sentence, and whether it will change soon.
import type { Schemas } from '../../api/schema.ts'

type PrivacyState = Schemas['PrivacyState']

export function rotationSentence({ data_keys, rotation }: PrivacyState): string {
  const [current = ''] = data_keys
  if (rotation === null) return `There is one key, ${current}, and nothing to rotate.`
  if (rotation.state === 'waiting') return `The rotation to ${current} begins within a minute.`
  if (rotation.state === 'running') return `What older keys sealed is being sealed with ${current}.`
  return data_keys.length > 1
    ? `Everything is sealed with ${current}. The other keys can be removed from DATA_KEYS.`
    : `Everything is sealed with ${current}.`
}

export const isRotating = ({ rotation }: PrivacyState): boolean => rotation !== null && rotation.state !== 'done'
