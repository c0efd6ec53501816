import type { OIDCConfig, OIDCUserConfig, Profile, TokenSet } from 'authkernel/kernel'

/** Claims of the ID token. */
export interface MicrosoftEntraIDProfile extends Profile {
  sub: string
  name?: string
  email?: string
  preferred_username?: string
  /** Object id of the user in the directory `tid`. */
  oid?: string
  tid?: string
  /** Optional claim: whether the domain owner verified `email`. */
  xms_edov?: boolean | string | number
  roles?: string[]
}
/** What Microsoft Entra ID needs, and what may be changed. */
export interface MicrosoftEntraIDOptions extends OIDCUserConfig<MicrosoftEntraIDProfile> {
  /** Directory (tenant) id, `common` (default), `organizations` or `consumers`. `issuer` says the same in full. */
  tenantId?: string | undefined
  /** Ids of the tenants that may sign in, with `common` and `organizations`; default: every tenant. */
  allowedTenants?: readonly string[] | undefined
  /** Edge of the photo in pixels; default 48. `false`: no request to Microsoft Graph. */
  profilePhotoSize?: 48 | 64 | 96 | 120 | 240 | 360 | 432 | 504 | 648 | false | undefined
}

/**
 * Sign-in with Microsoft Entra ID. Register: an app registration with the platform "Web", at https://entra.microsoft.com.
 * - With `common` and `organizations` users of every tenant may sign in: restrict them with `allowedTenants`.
 * - An ID token must come from the issuer of its tenant (claim `tid`). A tenant is named by its id, not by its domain.
 * - `email` is not verified by Microsoft: add the optional claim `xms_edov` before you link accounts by address.
 * - The photo is a second request, to Microsoft Graph, and is stored as a `data:` URL.
 * @see https://learn.microsoft.com/entra/identity-platform/v2-protocols-oidc
 */
export default function microsoftEntraId(options: MicrosoftEntraIDOptions = {}): OIDCConfig<MicrosoftEntraIDProfile> {
  const { tenantId = 'common', allowedTenants, profilePhotoSize = 48 } = options
  const authority = /^https:\/\/[^/]+/.exec(options.issuer ?? '')?.[0] ?? 'https://login.microsoftonline.com'
  return {
    id: 'microsoft-entra-id',
    name: 'Microsoft Entra ID',
    type: 'oidc',
    issuer: `${authority}/${tenantId}/v2.0`,
    authorization: { params: { scope: 'openid profile email User.Read' } },
    discoveryIssuer: [`${authority}/{tenantid}/v2.0`, `${authority}/${personal}/v2.0`, '{issuer}'],
    issuerOf: (claims, { id, issuer = '' }) => resolveIssuer(claims, id, issuer, allowedTenants),
    emailVerified: (profile) => (profile.xms_edov === undefined ? profile.email_verified : /^(1|true)$/.test(String(profile.xms_edov))),
    profile: async (profile, tokens, { fetch } = globalThis) => ({
      id: profile.sub,
      name: profile.name,
      email: profile.email,
      image: profilePhotoSize && tokens.access_token ? await readPhoto(profilePhotoSize, tokens, fetch) : null,
    }),
    style: { brandColor: '#0072c6' },
    options,
  }
}
export { microsoftEntraId }

const tenantOfIssuer = /\/([^/]+)\/v2\.0$/
const guid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
/** Tenant of personal Microsoft accounts. */
const personal = '9188040d-6c67-4c5b-b112-36a304b66dad'

/** The document of a multi-tenant issuer says `{tenantid}`: the token's own tenant takes its place, once it is known to be allowed. */
function resolveIssuer(claims: Record<string, unknown>, id: string, issuer: string, allowed: readonly string[] | undefined): string {
  // Tokens that sign people out name their tenant in `iss` alone.
  const tenant = String(claims['tid'] ?? tenantOfIssuer.exec(String(claims['iss']))?.[1])
  const named = /\/([^/]+)\/v2\.0\/?$/.exec(issuer)?.[1] ?? ''
  const multi = ['common', 'organizations', 'consumers'].includes(named)
  const createError = (why: string): Error => new Error(`Provider "${id}": ${why}`)
  if (!multi && !guid.test(named)) throw createError(`issuer ${issuer} must name the tenant by its id, or common, organizations, consumers`)
  if (!guid.test(tenant)) throw createError('the ID token names no tenant (claim tid)')
  if (allowed && !allowed.includes(tenant)) throw createError(`tenant ${tenant} may not sign in; add it to allowedTenants`)
  if ((named === 'organizations' && tenant === personal) || (named === 'consumers' && tenant !== personal)) {
    throw createError(`tenant ${tenant} does not belong to ${named}`)
  }
  return multi ? issuer.replace(`/${named}/`, `/${tenant}/`) : issuer
}

/** A photo that is missing, too large or slow keeps no user out. */
async function readPhoto(size: number, tokens: TokenSet, fetch: typeof globalThis.fetch): Promise<string | null> {
  try {
    const url = `https://graph.microsoft.com/v1.0/me/photos/${size}x${size}/$value`
    const response = await fetch(url, { headers: { Authorization: `Bearer ${tokens.access_token}` } })
    if (!response.ok) return null
    const bytes = new Uint8Array(await response.arrayBuffer())
    return `data:image/jpeg;base64,${btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))}`
  } catch {
    return null
  }
}
