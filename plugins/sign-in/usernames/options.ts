/** Options of `usernamesPlugin`, with their defaults. */
import { assertOptions, AuthError } from 'authkernel/kernel'
import { skeletonOf } from './skeleton.ts'

/** What `usernamesPlugin` takes. */
export interface UsernamesOptions {
  /** `ascii` (default): `[a-z0-9_][a-z0-9._-]{2,31}` in small letters. `unicode`: letters, marks and digits of all scripts, one script per name. */
  characters?: 'ascii' | 'unicode'
  /** Names that no user gets, beside the built-in ones (`admin`, `root`, `support` …). */
  reserved?: readonly string[]
}

/** Resolved once. */
export interface NameRules {
  unicode: boolean
  /** Skeletons: what looks like a reserved name is one. */
  reserved: ReadonlySet<string>
}

// Roles that users trust, addresses of RFC 2142, and words of paths.
const reservedNames = (
  'abuse account admin administrator anonymous api auth billing contact dev everyone guest help helpdesk hostmaster info login logout mail me ' +
  'moderator news nobody noreply no-reply null official owner postmaster privacy root sales security settings signin signout signup staff ' +
  'status superuser support sysadmin system team test undefined user webmaster www'
).split(' ')

/** Throws AuthError that names the option. */
export function resolveOptions(options: UsernamesOptions): NameRules {
  assertOptions('Plugin "usernames"', options, { characters: true, reserved: true })
  const { characters = 'ascii', reserved = [] } = options
  if (characters !== 'ascii' && characters !== 'unicode')
    throw new AuthError("Plugin \"usernames\": `characters` must be 'ascii' or 'unicode'.")
  if (!Array.isArray(reserved) || reserved.some((one) => typeof one !== 'string'))
    throw new AuthError('Plugin "usernames": `reserved` must be a list of names.')
  return {
    unicode: characters === 'unicode',
    reserved: new Set([...reservedNames, ...reserved].map((name) => skeletonOf(name.toLowerCase()))),
  }
}
