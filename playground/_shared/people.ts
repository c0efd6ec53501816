/** Who can sign in at the playground's provider. No user needs a password there. */

/** A person as the provider knows them; the fields are claims of OpenID Connect Core 5.1. */
export interface Person {
  sub: string
  name: string
  email: string
  email_verified: boolean
  /** What the account chooser says about them. */
  note: string
  /** Colour of the avatar. */
  color: string
}

export const people: readonly Person[] = [
  { sub: 'ada', name: 'Ada Lovelace', email: 'ada@example.com', email_verified: true, note: 'An ordinary account', color: '#7c3aed' },
  {
    sub: 'grace',
    name: 'Grace Hopper',
    email: 'grace@example.com',
    email_verified: true,
    note: 'Another ordinary account',
    color: '#0e7490',
  },
  { sub: 'alan', name: 'Alan Turing', email: 'alan@example.com', email_verified: false, note: 'Address not verified', color: '#b45309' },
  {
    sub: 'mallory',
    name: 'Mallory',
    email: 'mallory@evil.example',
    email_verified: true,
    note: 'The playground refuses her',
    color: '#be123c',
  },
]

/** Initials on a coloured disc, as SVG. */
export function avatar({ name, color }: Pick<Person, 'name' | 'color'>): string {
  const initials = name
    .split(' ')
    .map((word) => word[0])
    .join('')
    .slice(0, 2)
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64" role="img" aria-label="${name}"><circle cx="32" cy="32" r="32" fill="${color}"/>` +
    `<text x="32" y="41" font-family="system-ui,sans-serif" font-size="25" font-weight="600" fill="#fff" text-anchor="middle">${initials}</text></svg>`
  )
}
