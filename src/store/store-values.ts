/** Addresses that a store may take for one, and what a date can be made of. */
import { isDate } from './dates.ts'

/**
 * Whether an answer is for the address that was asked. MySQL's default collation ignores accents: the owner of "exámple.com" must not be taken for somebody at "example.com". Capitals do not count,
 * but U+212A, whose lower case is an ASCII k, is another letter.
 */
export function sameAddress(stored: unknown, asked: unknown): boolean {
  const fold = (address: string): string => address.replace(/[^\u212A]+/g, (part) => part.toLowerCase()).normalize('NFC')
  return typeof stored !== 'string' || typeof asked !== 'string' || fold(stored) === fold(asked)
}

/** What a date can be made of; a `Date` of another realm is one. */
export function isTime(value: unknown): value is string | number | Date {
  return typeof value === 'string' || typeof value === 'number' || isDate(value)
}
