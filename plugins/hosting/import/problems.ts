/** What a run finds that an operator must know, with a name, a level, and what to do. */
import type { ImportProblem } from './report.ts'

type Level = ImportProblem['level']

/** What is said about a problem; `{count}` is the number of rows. */
const texts: Readonly<Record<string, readonly [level: Level, message: string]>> = {
  'bad-rows': ['loss', '{count} rows of the export cannot be read.'],
  'weak-passwords': [
    'loss',
    '{count} users have a hash of one round of MD5, SHA-1 or SHA-2, which is not taken: a copy of the table would give the passwords away. They set a new one by the page of resets.',
  ],
  'peppered-passwords': [
    'loss',
    '{count} users have a hash that needs a key of the source. They set a new password by the page of resets.',
  ],
  'unknown-hashes': [
    'loss',
    '{count} users have a hash of a format that is not known here. They set a new password by the page of resets.',
  ],
  'passwords-not-exported': [
    'loss',
    '{count} users have a password, or may have one, that is not in the export. Use importPlugin({ legacyPassword }) to ask the source at the sign-in, or let them set a new one by the page of resets.',
  ],
  'passwords-by-hook': [
    'note',
    '{count} users have a password that is not in the export: `legacyPassword` is asked at their first sign-in.',
  ],
  'passwords-plugin': ['loss', '{count} users have a hash, and the app does not use passwordsPlugin().'],
  'unverified-users': [
    'note',
    '{count} users have a hash and an address that the source did not verify. The hash is parked until a magic link is opened.',
  ],
  'proved-here': [
    'note',
    '{count} users proved their address here, and the source has not verified it: an attacker may have registered there. Passwords, factors, accounts and phone numbers of the export are not taken for them.',
  ],
  'unverified-phones': ['loss', '{count} users have a phone number that the source did not verify. It is not taken.'],
  'phone-plugin': ['loss', '{count} users have a phone number, and the app does not use phonePlugin().'],
  'factor-plugin': ['factor', '{count} users have an authenticator app, and would sign in without it: use twoFactorPlugin().'],
  factors: ['factor', '{count} users have a second factor that is not in the export. They sign in without it until they enrol again.'],
  passkeys: [
    'loss',
    '{count} users have passkeys. They are bound to the domain of the source and its export has no keys: users add new ones.',
  ],
  bans: ['loss', '{count} users are banned, and would get in: use adminPlugin().'],
  'user-names': ['loss', '{count} users have a username, and the app does not use usernamesPlugin().'],
  organizations: ['loss', '{count} organizations and memberships are in the export, and the app does not use organizationsPlugin().'],
  roles: [
    'loss',
    '{count} users have roles. Declare the field `role` in `additionalFields` of the adapter, or write them with the option `map`.',
  ],
  fields: ['loss', '{count} users have values for fields that `additionalFields` of the adapter does not declare.'],
  metadata: ['loss', '{count} users have metadata. It is not taken: write what you need into `fields` with the option `map`.'],
  'second-addresses': ['loss', '{count} users have more than one address. The first one is taken.'],
  groups: ['loss', '{count} users are in groups. Write what you need with the option `map`.'],
  sso: ['loss', '{count} users signed in by SAML. Add their provider by OpenID Connect.'],
  wallets: ['loss', '{count} users have wallets. They are not taken.'],
  guests: ['loss', '{count} users are guests. They come without a sign-in method.'],
  providers: [
    'note',
    '{count} accounts belong to providers that the app does not have. They do not sign in until the provider is added: {examples}.',
  ],
  members: ['loss', '{count} memberships name a user or an organization that was not taken.'],
  'orphan-passwords': ['loss', '{count} hashes belong to users who were not taken. Give the file of users first.'],
}

/** Collects problems by name. */
export interface Problems {
  /** `example`: an id or a name, never a secret. */
  note(name: string, example: string): void
  /** One row less. */
  drop(name: string, example: string): void
  list(): ImportProblem[]
}

const maxExamples = 100

/** An empty collection. */
export function createProblems(): Problems {
  const counts = new Map<string, { count: number; examples: Set<string> }>()
  return {
    note(name, example) {
      const known = counts.get(name) ?? { count: 0, examples: new Set<string>() }
      known.count++
      if (known.examples.size < maxExamples) known.examples.add(example)
      counts.set(name, known)
    },
    drop(name, example) {
      const known = counts.get(name)
      if (!known) return
      known.count--
      known.examples.delete(example)
      if (known.count === 0) counts.delete(name)
    },
    list: () =>
      [...counts].map(([name, { count, examples }]) => {
        const [level, text] = texts[name] ?? ['loss', `{count} rows have ${name}, which is not taken.`]
        const list = [...examples]
        const message = text.replace('{count}', String(count)).replace('{examples}', list.join(', '))
        return { name, level, count, message, ...(name !== 'providers' && { examples: list }) }
      }),
  }
}
