/**
 * Mail addresses, as every plugin reads them (D39): one mailbox, one text. Whatever two readers of mail addresses could read differently is rejected,
 * because the mail would go to another mailbox than the stored text says (GHSA-xv97-c62v-4587, GHSA-5jpx-9hw9-2fx4, GHSA-7rqj-j65f-68wh).
 */

/** What a host may change about addresses. */
export interface AddressRules {
  /** Permits non-ASCII local parts. */
  international?: boolean | undefined
  /** Replaces lower-casing; gets the text after NFKC, and its result is checked like any other. */
  normalize?: ((typed: string) => string) | undefined
}

/** Longest text looked at; NFKC makes a character at most 18 times longer. */
const maxInput = 512
/** RFC 5321 section 4.5.3.1: path of 256 with its brackets. */
const maxAddress = 254
const maxLocal = 64
// Dot-atom (RFC 5322 3.2.3) without `%` and `!` (source routes of old relays), `|` and a backtick (pipes of old delivery agents).
const atext = "[a-z0-9#$&'*+/=?^_{}~-]"
const asciiLocal = new RegExp(`^${atext}+(?:\\.${atext}+)*$`, 'i')
const internationalText = atext.replace('a-z0-9', String.raw`\p{L}\p{M}\p{N}`)
// Made at the first use: Node takes milliseconds for its classes of characters.
let internationalLocal: RegExp | undefined
const manyScripts = (): RegExp => (internationalLocal ??= new RegExp(`^${internationalText}+(?:\\.${internationalText}+)*$`, 'iu'))
const label = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?'
const asciiDomain = new RegExp(`^(?=.{1,253}$)(?:${label}\\.)*${label}$`, 'i')
// A last label of digits makes an IPv4 address of it (WHATWG URL, "ends in a number").
const numericEnd = /(?:^|\.)(?:\d+|0x[0-9a-f]*)$/i
// Controls, format characters, lone surrogates, private use, unassigned, separators, and marks that IDNA drops: invisible, or dropped by some readers.
const invisible = /[\p{C}\p{Z}\p{DI}]/u

/** A typed mail address in its canonical text; undefined for what is no address, or could be read as two. */
export function toAddress(typed: unknown): string | undefined {
  try {
    return readAddress(typed)
  } catch {
    return undefined
  }
}

/** The one address that a text names, in its canonical text. Throws an Error that says what is wrong and never repeats the text. */
export function readAddress(value: unknown, rules: AddressRules = {}): string {
  if (typeof value !== 'string' || value === '') throw new Error('No email address was sent: give exactly one, in the field "email".')
  if (value.length > maxInput) throw new Error(`The email address is longer than ${maxAddress} characters.`)
  // Before any check: a fullwidth @ or comma becomes a real one here (GHSA-7rqj-j65f-68wh).
  const text = value.normalize('NFKC')
  if (!rules.normalize) return canonicalAddress(trimBlanks(text).toLowerCase().normalize('NFKC'), rules.international)
  const own: unknown = rules.normalize(text)
  if (typeof own !== 'string') throw new Error('normalizeIdentifier did not return a text.')
  return canonicalAddress(own.normalize('NFKC'), rules.international)
}

/** Whether a text is an address that `readAddress` could have returned: for what comes back with a link. */
export function isAddress(value: string): boolean {
  try {
    return canonicalAddress(value, true) === value
  } catch {
    return false
  }
}

/** The address as mail servers are asked for it: the domain in ASCII (RFC 5891). */
export function toAsciiAddress(address: string): string {
  const at = address.indexOf('@') + 1
  return address.slice(0, at) + asciiForm(address.slice(at))
}

/**
 * What counts of a name or an address that a visitor typed, as the key of a limit. All forms of one mailbox share a count. So does one name with and without invisible characters.
 */
export function countedName(typed: string): string {
  return (
    toAddress(typed) ??
    typed
      .normalize('NFKC')
      .replaceAll(/\p{DI}/gu, '')
      .trim()
      .toLowerCase()
      .slice(0, 256)
  )
}

function canonicalAddress(text: string, international = false): string {
  if (text.length > maxInput || invisible.test(text))
    throw new Error('The email address holds spaces or control characters, or is too long.')
  const at = text.indexOf('@')
  if (at < 1 || at !== text.lastIndexOf('@')) throw new Error('The email address must have the form name@domain, with exactly one @.')
  const local = text.slice(0, at)
  // A leading dash is an option to sendmail (GHSA-48ww-j4fc-435p), a leading slash a file; some relays decode what follows `=?`.
  if (!(international ? manyScripts() : asciiLocal).test(local) || /^[-/]|=\?/.test(local)) {
    throw new Error('The part of the email address before the @ holds characters that are not accepted.')
  }
  const address = `${local}@${toDomain(text.slice(at + 1))}`
  const bytes = new TextEncoder()
  if (bytes.encode(local).length > maxLocal || bytes.encode(address).length > maxAddress) throw new Error('The email address is too long.')
  return address
}

/** A domain as users write it: international labels in Unicode, the one spelling for all that lead to the same mail server. */
function toDomain(domain: string): string {
  const ascii = asciiForm(domain)
  if (!asciiDomain.test(ascii) || numericEnd.test(ascii)) throw new Error('The part of the email address after the @ is not a domain name.')
  const unicode = toUnicodeDomain(ascii)
  // Not every reader of the ASCII form comes to the same text: then the ASCII form is the name.
  return asciiForm(unicode) === ascii && !invisible.test(unicode) ? unicode : ascii
}

function asciiForm(domain: string): string {
  return /^[a-z0-9.-]*$/i.test(domain) && !/(?:^|\.)xn--/i.test(domain) ? domain : throughUrl(domain)
}

/** IDNA through the URL parser, which every runtime has; '' for what it rejects. */
function throughUrl(domain: string): string {
  // What would end the host, or be decoded, in a URL.
  if (!/^[a-z0-9.\-\u0080-\u{10ffff}]+$/iu.test(domain)) return ''
  try {
    return new URL(`http://${domain}/`).hostname
  } catch {
    return ''
  }
}

// Not `trim()`: it would also take line breaks, which are a sign of an attack here.
function trimBlanks(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && (text[start] === ' ' || text[start] === '\t')) start++
  while (end > start && (text[end - 1] === ' ' || text[end - 1] === '\t')) end--
  return text.slice(start, end)
}

// Labels of international domains back from their ASCII form (RFC 3492): URLs give the one, users write the other.

const punycodeBase = 36
const tMin = 1
const tMax = 26

/** `xn--bcher-kva.example` to `bücher.example`; a label that is no Punycode stays as it is. */
function toUnicodeDomain(domain: string): string {
  return domain
    .split('.')
    .map((label) => (label.startsWith('xn--') ? (decodePunycode(label.slice(4)) ?? label) : label))
    .join('.')
}

/** RFC 3492 section 6.2. */
function decodePunycode(input: string): string | undefined {
  const delimiter = input.lastIndexOf('-')
  const output = input.slice(0, Math.max(delimiter, 0)).split('')
  let at = delimiter + 1
  let code = 128
  let index = 0
  let bias = 72
  while (at < input.length) {
    const start = index
    for (let weight = 1, k = punycodeBase; ; k += punycodeBase) {
      const digit = digitOf(input.charCodeAt(at++))
      if (digit === undefined) return undefined
      index += digit * weight
      const threshold = Math.min(Math.max(k - bias, tMin), tMax)
      if (digit < threshold) break
      weight *= punycodeBase - threshold
    }
    const length = output.length + 1
    bias = adaptBias(index - start, length, start === 0)
    code += Math.floor(index / length)
    index %= length
    if (code > 0x10ffff) return undefined
    output.splice(index++, 0, String.fromCodePoint(code))
  }
  return output.join('')
}

/** RFC 3492 section 6.1. */
function adaptBias(delta: number, points: number, first: boolean): number {
  let rest = first ? Math.floor(delta / 700) : delta >> 1
  rest += Math.floor(rest / points)
  let k = 0
  for (; rest > ((punycodeBase - tMin) * tMax) >> 1; k += punycodeBase) rest = Math.floor(rest / (punycodeBase - tMin))
  return k + Math.floor(((punycodeBase - tMin + 1) * rest) / (rest + 38))
}

function digitOf(code: number): number | undefined {
  if (code >= 0x61 && code <= 0x7a) return code - 0x61
  return code >= 0x30 && code <= 0x39 ? code - 0x30 + 26 : undefined
}
