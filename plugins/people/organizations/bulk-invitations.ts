/** Many invitations at once: pasted addresses, or lines of a CSV file. What is wrong with a line is said for that line. */
import { AuthError, HttpError } from 'authkernel/kernel'
import { type Actor, type Membership, requireMembership } from './actor.ts'
import { OrganizationInput } from './errors.ts'
import { createInvitation } from './invitations.ts'

/** What became of one line. */
export interface BulkLine {
  /** Counted from 1. */
  line: number
  /** As it was typed, at most 254 characters. */
  email: string
  /** As it was typed; null: the line has none. */
  role: string | null
  /** Type of the error, or `AlreadyInvited` for an address in an earlier line, `UnknownRole`, `TooManyMails`; null: the invitation is on its way. */
  error: string | null
}
/** Addresses, one in a line, each with a role behind a comma, semicolon or tab where it is another one. */
export interface BulkInvitations {
  /** At most 100 lines and 20,000 characters. A first line `email,role` is a heading. */
  text: string
  /** Of lines without one; default `member`. */
  role?: string | undefined
  /** Language of the mails; default: that of the request. */
  lang?: string | undefined
}

const [mostLines, mostCharacters] = [100, 20_000]

/** Needs `invitation:create`. Throws OrganizationInput for too many lines, before any invitation is sent. */
export async function inviteMany(actor: Actor, id: string, { text, role = 'member', lang }: BulkInvitations): Promise<BulkLine[]> {
  const membership = await requireMembership(actor, id, 'invitation:create')
  const roles = await namesOfRoles(membership)
  const lines = readLines(text)
  if (lines.length > mostLines) throw new OrganizationInput(`organizations.inviteMany: there are more than ${mostLines} lines.`)
  const results: BulkLine[] = []
  const seen = new Set<string>()
  for (const { line, email, role: own } of lines) {
    const key = email.toLowerCase()
    // A second mail to the same address would void the link in the first.
    const wanted = own === undefined ? role : roles.get(own.toLowerCase())
    const refused = seen.has(key) ? 'AlreadyInvited' : wanted === undefined ? 'UnknownRole' : null
    const error = refused ?? (await inviteOne(actor, id, { email, role: wanted ?? role, lang }))
    seen.add(key)
    results.push({ line, email: email.slice(0, 254), role: own?.slice(0, 100) ?? null, error })
  }
  return results
}

/** Roles by their names in small letters, and by the titles of those that the members made. */
async function namesOfRoles({ rows, organization, roles }: Membership): Promise<ReadonlyMap<string, string>> {
  const made = await rows.records('organizationRole').find({ where: { organizationId: organization.id }, limit: 1000 })
  const titles = made.rows.map(({ title, key }) => [title.toLowerCase(), key] as const)
  return new Map([...titles, ...[...roles.keys()].map((role) => [role.toLowerCase(), role] as const)])
}

async function inviteOne(
  actor: Actor,
  id: string,
  invitation: { email: string; role: string; lang: string | undefined },
): Promise<string | null> {
  try {
    await createInvitation(actor, id, invitation)
    return null
  } catch (error) {
    if (error instanceof HttpError && error.status === 429) return 'TooManyMails'
    if (!(error instanceof AuthError) || error.status >= 500) throw error
    return error.type
  }
}

/** Lines that are not empty, without a heading; quotes of CSV are taken off. */
function readLines(text: unknown): { line: number; email: string; role: string | undefined }[] {
  if (typeof text !== 'string' || text.length > mostCharacters)
    throw new OrganizationInput(`organizations.inviteMany: \`text\` must be at most ${mostCharacters} characters.`)
  return text
    .split(/\r?\n/)
    .map((line, at) => {
      const [email = '', role = ''] = line.split(/[,;\t]/, 2).map((cell) => cell.trim().replace(/^"|"$/g, '').trim())
      return { line: at + 1, email, role: role === '' ? undefined : role }
    })
    .filter(({ email, role, line }) => (email !== '' || role !== undefined) && !(line === 1 && /^e-?mail$/i.test(email)))
}
