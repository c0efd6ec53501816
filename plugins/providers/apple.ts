import type { OIDCConfig, OIDCUserConfig, Profile } from 'authkernel/kernel'

/** Claims of the ID token. */
export interface AppleProfile extends Profile {
  sub: string
  /** The user may choose a relay address of Apple; absent for some managed accounts. */
  email?: string
  /** Like `email_verified` a boolean, or a string. */
  is_private_email?: boolean | 'true' | 'false'
  /** Form field of the first consent only; unsigned, so nothing but the name is taken from it. */
  user?: { name?: { firstName?: string; lastName?: string }; email?: string }
}
/** What Apple needs, and what may be changed. */
export interface AppleOptions extends OIDCUserConfig<AppleProfile> {
  /** Ten characters, at the top right of the developer account. With `keyId` and `privateKey` it replaces `clientSecret`. */
  teamId?: string | undefined
  /** Ten characters, in the list of keys. */
  keyId?: string | undefined
  /** Text of `AuthKey_<keyId>.p8`; line breaks may be written as `\n`. */
  privateKey?: string | undefined
}

/**
 * Sign-in with Apple. Register: an App ID with "Sign in with Apple", a Services ID (its identifier is `clientId`) and a key, at
 * https://developer.apple.com/account/resources.
 * - Give `teamId`, `keyId` and `privateKey`: the client secret, a JWT, is made again for each sign-in. A ready-made `clientSecret`
 *   works too, for at most six months.
 * - The name comes with the first consent only; later sign-ins fall back to the address.
 * - The callback is a cross-site POST, so it needs https even in development, and no redirect proxy can stand in between.
 * @see https://developer.apple.com/documentation/signinwithapplerestapi
 */
export default function apple(options: AppleOptions = {}): OIDCConfig<AppleProfile> {
  return {
    id: 'apple',
    name: 'Apple',
    type: 'oidc',
    trustEmail: true,
    issuer: 'https://appleid.apple.com',
    authorization: { params: { scope: 'name email', response_mode: 'form_post' } },
    checks: ['nonce', 'state'],
    client: { token_endpoint_auth_method: 'client_secret_post' },
    clientSecret: clientSecretOf(options),
    callback: withUser,
    emailVerifiedStrings: ['true'],
    profile: (profile) => ({
      id: profile.sub,
      name: [profile.user?.name?.firstName, profile.user?.name?.lastName].filter(Boolean).join(' ') || profile.email,
      email: profile.email,
      image: null,
    }),
    style: { brandColor: '#000000', logo },
    options,
  }
}
export { apple }

type Key = Pick<AppleOptions, 'teamId' | 'keyId' | 'privateKey'>

function clientSecretOf({ teamId, keyId, privateKey }: Key): OIDCConfig['clientSecret'] {
  if (!teamId && !keyId && !privateKey) return undefined
  if (!teamId || !keyId || !privateKey) throw new Error('Provider "apple" needs teamId, keyId and privateKey together, or a clientSecret')
  return async ({ now, clientId }) => {
    const iat = Math.floor(now.getTime() / 1000)
    const header = { alg: 'ES256', kid: keyId }
    const claims = { iss: teamId, iat, exp: iat + 300, aud: 'https://appleid.apple.com', sub: clientId }
    const input = [header, claims].map((part) => base64Url(new TextEncoder().encode(JSON.stringify(part)))).join('.')
    const key = await importKey(privateKey)
    const signature = await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, key, new TextEncoder().encode(input))
    return `${input}.${base64Url(new Uint8Array(signature))}`
  }
}

async function importKey(pem: string): Promise<CryptoKey> {
  try {
    const der = Uint8Array.from(atob(pem.replace(/-----[^-]+-----|\\n|\s/g, '')), (char) => char.charCodeAt(0))
    return await crypto.subtle.importKey('pkcs8', der, { name: 'ECDSA', namedCurve: 'P-256' }, false, ['sign'])
  } catch {
    throw new Error('Provider "apple": privateKey is not a PKCS#8 P-256 key; give the whole text of AuthKey_<keyId>.p8')
  }
}

function base64Url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes)).replace(/[+/=]/g, (char) => ({ '+': '-', '/': '_' })[char] ?? '')
}

/** The form field comes from the browser: whatever is not the documented JSON is left out. */
function withUser(params: Record<string, string>, claims: AppleProfile): AppleProfile {
  try {
    const { name } = JSON.parse(params['user'] ?? '{}') as { name?: Record<string, unknown> }
    const part = (key: string): string => (typeof name?.[key] === 'string' ? name[key].slice(0, 100) : '')
    return name ? { ...claims, user: { name: { firstName: part('firstName'), lastName: part('lastName') } } } : claims
  } catch {
    return claims
  }
}

const logo =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="currentColor" aria-hidden="true"><path d="M12.152 6.896c-.948 0-2.415-1.078-3.96-1.04-2.04.027-3.91 1.183-4.961 3.014-2.117 3.675-.546 9.103 1.519 12.09 1.013 1.454 2.208 3.09 3.792 3.039 1.52-.065 2.09-.987 3.935-.987 1.831 0 2.35.987 3.96.948 1.637-.026 2.676-1.48 3.676-2.948 1.156-1.688 1.636-3.325 1.662-3.415-.039-.013-3.182-1.221-3.22-4.857-.026-3.04 2.48-4.494 2.597-4.559-1.429-2.09-3.623-2.324-4.39-2.376-2-.156-3.675 1.09-4.61 1.09zM15.53 3.83c.843-1.012 1.4-2.427 1.245-3.83-1.207.052-2.662.805-3.532 1.818-.78.896-1.454 2.338-1.273 3.714 1.338.104 2.715-.688 3.559-1.701"/></svg>'
