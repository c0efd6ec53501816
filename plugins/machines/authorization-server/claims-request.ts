/** The parameter `claims` (OpenID Connect Core section 5.5): single claims, and how the user must be signed in. */

/** Values of `acr` that this server gives: one factor, and two. */
export const acrValues = { one: 'urn:authkernel:acr:1fa', two: 'urn:authkernel:acr:2fa' } as const

/** What a client asks for by name. */
export interface ClaimsRequest {
  /** Names of claims in the ID token, and at userinfo. */
  idToken: string[]
  userinfo: string[]
  /** The second factor was asked for as essential: without it there is no answer (section 5.5.1.1). */
  needsSecondFactor: boolean
  /** Classes that were asked for, the wanted one first. */
  acrValues: string[]
  /** `sub` that the user must have. */
  sub: string | undefined
}

/** Claims of the user, and the scope whose words the consent page shows for them. */
const scopeOfClaim: Readonly<Record<string, string>> = { name: 'profile', picture: 'profile', email: 'email', email_verified: 'email' }
const maxLength = 4_000
const maxClaims = 50
const nothing: ClaimsRequest = { idToken: [], userinfo: [], needsSecondFactor: false, acrValues: [], sub: undefined }

/** Undefined: the parameter is no claims request. `limit`: scopes of the client, where it has only some; a claim of another scope is left out. */
export function readClaimsRequest(text: string | undefined, limit: readonly string[] | undefined): ClaimsRequest | undefined {
  if (text === undefined) return nothing
  const request = parse(text)
  if (!request) return undefined
  const idToken = membersOf(request['id_token'])
  const userinfo = membersOf(request['userinfo'])
  if (!idToken || !userinfo) return undefined
  const isWithin = (name: string): boolean => !limit || scopeOfClaim[name] === undefined || limit.includes(scopeOfClaim[name])
  const acr = (idToken['acr'] ?? {}) as { essential?: unknown; value?: unknown; values?: unknown }
  const wanted = [acr.value, ...(Array.isArray(acr.values) ? (acr.values as unknown[]) : [])].filter((one) => typeof one === 'string')
  const { value: sub } = (idToken['sub'] ?? {}) as { value?: unknown }
  return {
    idToken: Object.keys(idToken).filter(isWithin),
    userinfo: Object.keys(userinfo).filter(isWithin),
    needsSecondFactor: acr.essential === true && wanted.includes(acrValues.two) && !wanted.includes(acrValues.one),
    acrValues: wanted,
    sub: typeof sub === 'string' ? sub : undefined,
  }
}

/** Scopes whose words tell the user what single claims are: consent covers them. */
export function scopesOfClaims({ idToken, userinfo }: Pick<ClaimsRequest, 'idToken' | 'userinfo'>): string[] {
  return [...new Set([...idToken, ...userinfo].flatMap((name) => scopeOfClaim[name] ?? []))]
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    return text.length > maxLength ? undefined : membersOf(JSON.parse(text))
  } catch {
    return undefined
  }
}

function membersOf(value: unknown = {}): Record<string, unknown> | undefined {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isObject && Object.keys(value).length <= maxClaims ? (value as Record<string, unknown>) : undefined
}
