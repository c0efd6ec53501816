/** `auth.jwt` for the host app and `client.jwt` for its pages. */
import { type ClientPart, jobFor, type Kernel, type OfTenant } from 'authkernel/kernel'
import { type AccessToken, issueToken, type AccessTokenRequest } from './issue.ts'
import { keySet, rotateKeys, signingKeys } from './keys.ts'
import type { ResolvedOptions } from './options.ts'
import type { PublicKey } from './tables.ts'

/** What the plugin puts on `auth`. */
export interface JwtApi {
  jwt: {
    /** For the user or the API key of the request. Null: the request is signed out. Throws HttpError 400 and AccessDenied. */
    issue(request: Request, wanted: AccessTokenRequest): Promise<AccessToken | null>
    /** What `/.well-known/jwks.json` answers, for hosts that serve it elsewhere. */
    jwks(request: Request): Promise<{ keys: PublicKey[] }>
    /** Publishes the next key now; it signs when every resource server can know it. One that is published already is returned unchanged. */
    rotate(wanted?: RotateOptions): Promise<{ kid: string; signsFrom: Date }>
  }
}

/** Which keys to rotate: `tenant` names the tenant where there are several. */
export interface RotateOptions extends OfTenant {
  /** A private key leaked: all keys end at once, and with them their tokens. */
  compromised?: boolean | undefined
}

/** `client.jwt` with the option `routes`. */
export type JwtClient = ClientPart<{
  readonly jwt: {
    /**
     * An access token of the user who is signed in. `expires_in` in seconds. Rejects with `login_required` (401) for a visitor, `invalid_request` (400) for an audience or
     * scope that is not offered, `access_denied` (403) when the hook `accessToken` says no.
     */
    token(input: {
      audience: string
      scope?: string
    }): Promise<{ access_token: string; token_type: 'Bearer'; expires_in: number; scope?: string }>
  }
}>

export function createApi(kernel: Kernel, options: ResolvedOptions): JwtApi['jwt'] {
  return {
    issue: async (request, wanted) => issueToken(await kernel.contextOf(request), options, wanted),
    jwks: async (request) => keySet(await signingKeys(await kernel.contextOf(request), options)),
    async rotate({ compromised = false, ...tenant } = {}) {
      const { id: kid, signsFrom } = await rotateKeys(await kernel.contextOf(jobFor('jwt.rotate', tenant)), options, compromised)
      return { kid, signsFrom }
    },
  }
}
