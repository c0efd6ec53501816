/** Numbers as users type them, by the tables of libphonenumber: one number in E.164, or none. */
import { AuthError } from 'authkernel/kernel'

// Others cost more, reach no user, or are no phone: premium rate, shared cost, pagers, voice mail, land lines.
const reachable = new Set(['MOBILE', 'FIXED_LINE_OR_MOBILE', 'PERSONAL_NUMBER'])

/**
 * The number in E.164. Undefined for text that is none, has an extension, or lacks the country (`0151 …`). Also undefined for a number without a country (satellites, premium numbers of the world), or of a country that is not in the list.
 */
export async function toNumber(typed: unknown, countries: readonly string[] | undefined): Promise<string | undefined> {
  if (typeof typed !== 'string' || typed.length > 64) return undefined
  const text = typed.normalize('NFKC').trim()
  // Only digits and what people put between them: no letters, no extension, no second number.
  if (!/^\+[\d\s().-]+$/.test(text)) return undefined
  const { parsePhoneNumberFromString } = await loadPhoneLibrary()
  const number = parsePhoneNumberFromString(text, { extract: false })
  if (!number?.isValid() || number.ext || number.country === undefined) return undefined
  if (!reachable.has(number.getType() ?? '') || (countries && !countries.includes(number.country))) return undefined
  return number.number
}

/** Whether a text is a code of two letters. */
export function isCountry(code: unknown): boolean {
  return typeof code === 'string' && /^[A-Z]{2}$/.test(code)
}

/** Throws AuthError when libphonenumber-js is missing. */
export async function checkNumbers(): Promise<void> {
  await loadPhoneLibrary()
}

async function loadPhoneLibrary() {
  try {
    return await import('libphonenumber-js/max')
  } catch (error) {
    throw new AuthError('Plugin "phone": numbers need the package libphonenumber-js: npm install libphonenumber-js', {
      cause: { err: error as Error },
    })
  }
}
