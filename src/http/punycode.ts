/** Labels of international domains back from their ASCII form (RFC 3492): URLs give the one, people write the other. */

const base = 36
const tMin = 1
const tMax = 26

/** `xn--bcher-kva.example` to `bücher.example`; a label that is no Punycode stays as it is. */
export function toUnicodeDomain(domain: string): string {
  return domain
    .split('.')
    .map((label) => (label.startsWith('xn--') ? (decode(label.slice(4)) ?? label) : label))
    .join('.')
}

/** RFC 3492 section 6.2. */
function decode(input: string): string | undefined {
  const delimiter = input.lastIndexOf('-')
  const output = input.slice(0, Math.max(delimiter, 0)).split('')
  let at = delimiter + 1
  let code = 128
  let index = 0
  let bias = 72
  while (at < input.length) {
    const start = index
    for (let weight = 1, k = base; ; k += base) {
      const digit = digitOf(input.charCodeAt(at++))
      if (digit === undefined) return undefined
      index += digit * weight
      const threshold = Math.min(Math.max(k - bias, tMin), tMax)
      if (digit < threshold) break
      weight *= base - threshold
    }
    const length = output.length + 1
    bias = adapt(index - start, length, start === 0)
    code += Math.floor(index / length)
    index %= length
    if (code > 0x10ffff) return undefined
    output.splice(index++, 0, String.fromCodePoint(code))
  }
  return output.join('')
}

/** RFC 3492 section 6.1. */
function adapt(delta: number, points: number, first: boolean): number {
  let rest = first ? Math.floor(delta / 700) : delta >> 1
  rest += Math.floor(rest / points)
  let k = 0
  for (; rest > ((base - tMin) * tMax) >> 1; k += base) rest = Math.floor(rest / (base - tMin))
  return k + Math.floor(((base - tMin + 1) * rest) / (rest + 38))
}

function digitOf(code: number): number | undefined {
  if (code >= 0x61 && code <= 0x7a) return code - 0x61
  return code >= 0x30 && code <= 0x39 ? code - 0x30 + 26 : undefined
}
