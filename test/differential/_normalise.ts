/** Random values become placeholders, numbered as they appear: that two places hold the same value is still compared. */
import type { Step } from './_browser.ts'

const kinds: [name: string, pattern: RegExp][] = [
  ['jti', /(?<="jti":")[^"]+/g],
  ['nonce', /(?<='nonce-)[\w+/=]+/g],
  ['uuid', /[\da-f]{8}-[\da-f]{4}-[1-8][\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}/g],
  ['hex', /(?<![\da-zA-Z])[\da-f]{64}(?![\da-zA-Z])/g],
  ['jwe', /eyJ[\w-]+\.\.[\w-]+\.[\w-]+\.[\w-]+/g],
  ['jws', /eyJ[\w-]+\.[\w-]+\.[\w-]+/g],
  ['random', /(?<![\w-])[\w-]{43}(?![\w-])/g],
  // Of check cookies.
  ['mark', /(?<="(?:pkce|nonce)":"|(?:code_verifier|nonce)","value":")[\w-]{22}(?=")/g],
]

/** A copy with placeholders, and cookies in the order of their names. */
export function normalise(steps: readonly Step[]): Step[] {
  let text = JSON.stringify(steps.map((step) => ({ ...step, answer: { ...step.answer, cookies: sorted(step.answer.cookies) } })))
  for (const [name, pattern] of kinds) {
    const seen = new Map<string, number>()
    text = text.replace(pattern, (value) => {
      if (!seen.has(value)) seen.set(value, seen.size + 1)
      return `<${name}${seen.get(value)}>`
    })
    // Renumbered when some were taken away by rules.
    const order = new Map<string, number>()
    text = text.replace(new RegExp(`<${name}(\\d+)>`, 'g'), (_, number: string) => {
      if (!order.has(number)) order.set(number, order.size + 1)
      return `<${name}${order.get(number)}>`
    })
  }
  return JSON.parse(text) as Step[]
}

function sorted<T extends { name: string }>(cookies: readonly T[]): T[] {
  return [...cookies].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
}
