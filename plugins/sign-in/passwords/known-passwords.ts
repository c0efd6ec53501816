/**
 * Passwords that attackers try first. Online: those of a breach, by the range queries of Have I Been Pwned, where only five digits of a SHA-1 leave the
 * server. Offline: common words, repetitions, rows of keys, and what is made of the own name and address.
 */
import { type AnyContext, assertOptions, type Awaitable, boundedFetch, bytes, toHex } from 'authkernel/kernel'

/** Whether a password is known to attackers. Throwing means: unknown, and the offline list decides. */
export type BreachCheck = (ctx: AnyContext, password: string) => Awaitable<boolean>
/** Options of `pwned`. */
export interface PwnedOptions {
  /** Default `https://api.pwnedpasswords.com/range/`. */
  url?: string
  /** Default: that of the kernel. */
  fetch?: typeof globalThis.fetch
  /** Milliseconds; default 1000. */
  timeout?: number
}

/** Asks with padding, so that the length of the answer tells nothing. */
export function pwned(options: PwnedOptions = {}): BreachCheck {
  assertOptions('pwned', options, { url: true, fetch: true, timeout: true })
  const { url = 'https://api.pwnedpasswords.com/range/', fetch, timeout = 1_000 } = options
  return async (ctx, password) => {
    const digest = toHex(new Uint8Array(await crypto.subtle.digest('SHA-1', bytes(password)))).toUpperCase()
    const ask = boundedFetch({ fetch: fetch ?? ctx.runtime.fetch, deadline: timeout, limit: 1_048_576, signal: ctx.signal })
    const response = await ask(url + digest.slice(0, 5), { headers: { 'Add-Padding': 'true' } })
    if (!response.ok) throw new Error(`The list of breached passwords answered with status ${response.status}.`)
    const suffix = digest.slice(5)
    // Padding has the count 0.
    return (await response.text()).split(/\r?\n/).some((line) => line.startsWith(`${suffix}:`) && Number(line.slice(suffix.length + 1)) > 0)
  }
}

// At 15 characters and more, known passwords are mostly these, put together or repeated.
const words =
  'password passwort passw0rd motdepasse contrasena qwerty qwertz azerty qwertyuiop asdfghjkl zxcvbnm letmein welcome iloveyou monkey dragon football ' +
  'baseball superman batman princess sunshine master shadow michael charlie jordan trustno1 starwars computer internet whatever admin ' +
  'administrator login secret changeme default access google facebook liverpool chelsea arsenal samsung pokemon cookie summer winter ' +
  'spring autumn hello freedom thunder killer hunter test user guest root correcthorsebatterystaple abc xyz love you the and my is'
const rows = [
  'abcdefghijklmnopqrstuvwxyz',
  '01234567890123456789',
  'qwertyuiopasdfghjklzxcvbnm',
  'qwertzuiopasdfghjklyxcvbnm',
  'azertyuiopqsdfghjklmwxcvbn',
]

/** `own`: names and addresses; a password that is little more than one of them is common, too. */
export function isCommon(password: string, own: readonly string[]): boolean {
  const text = password.toLowerCase()
  if (/^(.{1,5})\1+.{0,4}$/su.test(text)) return true
  if (own.some((one) => isAlmost(text, one))) return true
  const known = [...own.flatMap(partsOf), ...words.split(' ')].sort((one, other) => other.length - one.length)
  let rest = text
  for (const word of known) rest = rest.replaceAll(word, ' ')
  for (const row of [...rows, ...rows.map((one) => [...one].toReversed().join(''))]) rest = withoutRuns(rest, row)
  // Digits and signs around a word are what most users add.
  const left = rest.replace(/[\d\s\p{P}\p{S}]/gu, '')
  const removed = [...text].length - [...rest.replace(/\s/g, '')].length
  return left.length <= 2 && (removed >= [...text].length / 2 || /^\d+$/.test(text))
}

/** The whole address or name, or what is before the "@", also with digits and signs around it or twice, however short its parts are. */
function isAlmost(text: string, own: string): boolean {
  const whole = own.normalize('NFKC').toLowerCase()
  const at = whole.lastIndexOf('@')
  return [whole, ...(at > 0 ? [whole.slice(0, at)] : [])].some((one) => {
    if (one === '' || text === one) return one !== ''
    const bare = lettersOf(one)
    return bare.length >= 3 && [bare, bare + bare].includes(lettersOf(text))
  })
}

function lettersOf(text: string): string {
  return text.replace(/[\d\s\p{P}\p{S}]/gu, '')
}

function partsOf(own: string): string[] {
  return own
    .toLowerCase()
    .replace(/^https?:\/\//, '')
    .split(/[^\p{L}\p{N}]+/u)
    .filter((part) => part.length >= 3)
}

function withoutRuns(text: string, row: string): string {
  let rest = text
  for (let length = Math.min(row.length, 20); length >= 4; length--)
    for (let start = 0; start + length <= row.length; start++) rest = rest.replaceAll(row.slice(start, start + length), ' ')
  return rest
}
