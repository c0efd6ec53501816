/** Times of SAML messages: UTC, as SAML Core section 1.3.3 demands. */
import { Refusal } from './errors.ts'

/** What messages are compared with, in milliseconds. */
export interface Clock {
  readonly now: number
  /** How far the clocks may differ. */
  readonly skew: number
}

/** Milliseconds since the epoch. Throws `Refusal` for another form. */
export function readTime(value: string | undefined, what: string): number {
  const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z$/.test(value ?? '') ? Date.parse(value ?? '') : Number.NaN
  if (Number.isNaN(time)) throw new Refusal(`\`${what}\` is no time in UTC.`, { check: 'time', received: value })
  return time
}

/** Throws `Refusal` for a time that is over. */
export function assertBefore(value: string | undefined, what: string, { now, skew }: Clock): number {
  const end = readTime(value, what)
  if (now - skew >= end) refuse(`\`${what}\` is over.`, value, now)
  return end
}

/** Throws `Refusal` for a time that has not come. */
export function assertSince(value: string | undefined, what: string, { now, skew }: Clock): number {
  const begin = readTime(value, what)
  if (now + skew < begin) refuse(`\`${what}\` is in the future.`, value, now)
  return begin
}

function refuse(message: string, received: string | undefined, now: number): never {
  throw new Refusal(message, {
    check: 'time',
    expected: new Date(now).toISOString(),
    received,
    fix: 'Set the clocks of both servers by NTP. The option `clockSkew` tolerates up to 300 seconds.',
  })
}
