/** Names of keys. Each key has one part in braces, which decides its slot in a Redis Cluster: keys of one session, user, value or limit lie together. */
import { sha256, toHex } from 'authkernel/kernel'
import { base64url } from 'jose'

// The name of a tenant stays readable, and the hash is that of the cookie: ids of sessions are made from it.
const tenantLead = /^~[a-z0-9-]{0,32}~/
const storedForm = /^(~[a-z0-9-]{0,32}~)?sha256:([0-9a-f]{64})$/
const nameOfSession = /^(~[a-z0-9-]{0,32}~)?([\w-]{43})$/

/** The name of the session of a cookie. A listed form is a token like any other here: a stolen row opens nothing. */
export async function toSessionName(sessionToken: string): Promise<string> {
  const [lead = ''] = tenantLead.exec(sessionToken) ?? []
  return lead + base64url.encode(await sha256(sessionToken.slice(lead.length)))
}

/** The name of a session by its token, or by the form in which it is listed. */
export async function toListedName(sessionToken: string): Promise<string> {
  const [, lead = '', hash] = storedForm.exec(sessionToken) ?? []
  return hash === undefined ? toSessionName(sessionToken) : lead + base64url.encode(Uint8Array.from(hash.match(/../g) ?? [], parseHex))
}

/** The form in which a session is listed: the hash of its token, which is no cookie. */
export function toListedForm(name: string): string {
  const [, lead = '', hash = ''] = nameOfSession.exec(name) ?? []
  return `${lead}sha256:${toHex(base64url.decode(hash))}`
}

/** A key that says nothing of what it stands for. */
export async function hashKey(key: string): Promise<string> {
  return base64url.encode((await sha256(key)).slice(0, 16))
}

function parseHex(digits: string): number {
  return Number.parseInt(digits, 16)
}
