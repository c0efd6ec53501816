/** Errors of libraries and drivers as they may be logged: many repeat what they were given, and some of that signs users in. */

const mark = '[redacted]'
// Shorter ones are words.
const minLength = 6
const maxText = 2_000

/** Foreign text for a log: no given secret, nothing that looks like a signed token, no line breaks that forge entries, bounded in length. */
export function redactText(text: string, secrets: Iterable<string> = [], max: number = maxText): string {
  const cleaned = withoutSecrets(text, secrets)
    .replace(/[\w.-]{5,}/g, withoutToken)
    .replace(/[\p{Cc}\u2028\u2029]/gu, ' ')
  return cleaned.length > max ? `${cleaned.slice(0, max)}…` : cleaned
}

/** What looks like a signed token ends a run of its characters. Each run is looked at once, however long a stranger made it. */
function withoutToken(run: string): string {
  const at = run.indexOf('eyJ')
  return at === -1 || !run.includes('.', at + 4) ? run : run.slice(0, at) + mark
}

/** A copy that is fit to be read: name, message with that of its cause, frames of the stack, and code. */
export function redactError(error: unknown, secrets: Iterable<string> = []): Error {
  const { name, message, stack, code, cause }: Error & { code?: unknown } = error instanceof Error ? error : new Error(String(error))
  const inner = cause instanceof Error ? `: ${cause.message}` : ''
  const copy = new Error(redactText(message + inner, secrets))
  copy.name = name
  // The first lines repeat the message.
  const frames = (stack ?? '').split('\n').filter((line) => /^\s+at /.test(line))
  copy.stack = [`${name}: ${copy.message}`, ...frames.map((frame) => withoutSecrets(frame, secrets))].join('\n')
  return typeof code === 'string' || typeof code === 'number' ? Object.assign(copy, { code }) : copy
}

/** Longest first: a part of one would leave the rest of it behind. */
function withoutSecrets(text: string, secrets: Iterable<string>): string {
  const forms = [...secrets].filter((secret) => secret.length >= minLength).flatMap((secret) => [secret, encodeSafely(secret)])
  return [...new Set(forms)].sort((a, b) => b.length - a.length).reduce((result, secret) => result.replaceAll(secret, mark), text)
}

function encodeSafely(secret: string): string {
  try {
    return encodeURIComponent(secret)
  } catch {
    return secret
  }
}
