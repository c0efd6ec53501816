/** Short-lived signed access tokens (RFC 9068) for other services, with their public keys and introspection. */
import {
  type AnyContext,
  type ClientPart,
  type First,
  type Guard,
  jobFor,
  type Kernel,
  type OfTenant,
  type Plugin,
} from 'authkernel/kernel'
import { liveClaims } from './introspect.ts'
import { type AccessToken, issueToken, ownClaims, signClaims, type TokenWanted } from './issue.ts'
import { keyAge, keySet, rotateKeys, signingKeys } from './keys.ts'
import { metadata } from './metadata.ts'
import { type JwtOptions, resolveOptions, type ResolvedOptions } from './options.ts'
import { addRoutes } from './routes.ts'
import { type PublicKey, table } from './table.ts'

export type { AccessToken, TokenWanted } from './issue.ts'
export type { CallerKey, IntrospectionClient, IntrospectionOptions, JwtOptions, TokenQuestion } from './options.ts'
export type { PublicKey, SigningAlgorithm, SigningKeyRow } from './table.ts'

declare module 'authkernel/kernel' {
  interface Events {
    /** A signing key is published, the first one too. `signsFrom` in ISO 8601; `compromised`: all former keys ended. */
    keyRotated: { kid: string; alg: string; signsFrom: string; compromised: boolean }
  }
  interface Hooks {
    /** Whether a token may be issued, and counts when a resource server asks: banned people, members that left. */
    accessToken: Guard<{ claims: Readonly<Record<string, unknown>> }>
    /**
     * What a resource server is told of a token that this plugin did not sign: opaque ones. Members as in RFC 7662 section 2.2; without an `aud`
     * among `audiences` the caller is told nothing. Null: not live.
     */
    introspect: First<{ token: string; audiences: readonly string[] }, Record<string, unknown> | null>
  }
}

/** Which keys to rotate: `tenant` names the tenant where there are several. */
export interface RotateWanted extends OfTenant {
  /** A private key leaked: all keys end at once, and with them their tokens. */
  compromised?: boolean | undefined
}

/** What the plugin puts on `auth`. */
export interface JwtApi {
  jwt: {
    /** For the person or the API key of the request. Null: nobody is signed in. Throws HttpError 400 and AccessDenied. */
    issue(request: Request, wanted: TokenWanted): Promise<AccessToken | null>
    /** What `/.well-known/jwks.json` answers, for hosts that serve it elsewhere. */
    jwks(request: Request): Promise<{ keys: PublicKey[] }>
    /** Publishes the next key now; it signs when every resource server can know it. One that is published already is answered as it is. */
    rotate(wanted?: RotateWanted): Promise<{ kid: string; signsFrom: Date }>
  }
}

/** `client.jwt` with the option `routes`. */
export type JwtClient = ClientPart<{
  readonly jwt: {
    /**
     * An access token of the person who is signed in. `expires_in` in seconds. Rejects with `login_required` (401) for nobody, `invalid_request` (400) for an audience or
     * scope that is not offered, `access_denied` (403) when the hook `accessToken` says no.
     */
    token(input: {
      audience: string
      scope?: string
    }): Promise<{ access_token: string; token_type: 'Bearer'; expires_in: number; scope?: string }>
  }
}>

/** Adds `auth.jwt`, `/.well-known/jwks.json` and, with `routes`, `client.jwt`. Throws AuthError for options of the wrong shape. */
export function jwtPlugin(options: JwtOptions = {}): Plugin<JwtApi & JwtClient> {
  const resolved = resolveOptions(options)
  return {
    name: 'jwt',
    requires: ['records'],
    setup(kernel) {
      kernel.records('jwtKey', table)
      kernel.declareEvent('keyRotated')
      kernel.declareHook('accessToken', 'guard')
      kernel.declareHook('introspect', 'first')
      addRoutes(kernel, resolved)
      // The hook belongs to the plugin that looks after health, which may be absent.
      kernel.hook(
        'health',
        ({ checks }: { checks: object }) => ({
          ...checks,
          'signing-key': (ctx: AnyContext) => keyAge(ctx, resolved),
        }),
        { of: 'health' },
      )
      kernel.provide('accessTokens', {
        issuer: resolved.issuer,
        sign: (ctx, claims) => signClaims(ctx, resolved, { ...claims, ...ownClaims(ctx, resolved) }),
        verify: (ctx, token, audiences) => liveClaims(ctx, resolved, token, audiences),
      })
      // Where apps find the public keys, when a plugin has a token endpoint.
      kernel.decorate('appTokens', (inner) => ({
        metadata: async (ctx) => ({ ...(await inner.metadata(ctx)), ...metadata(ctx, resolved) }),
      }))
      return { jwt: api(kernel, resolved) }
    },
  }
}

function api(kernel: Kernel, options: ResolvedOptions): JwtApi['jwt'] {
  return {
    issue: async (request, wanted) => issueToken(await kernel.contextOf(request), options, wanted),
    jwks: async (request) => keySet(await signingKeys(await kernel.contextOf(request), options)),
    async rotate({ compromised = false, ...tenant } = {}) {
      const { id: kid, signsFrom } = await rotateKeys(await kernel.contextOf(jobFor('jwt.rotate', tenant)), options, compromised)
      return { kid, signsFrom }
    },
  }
}
