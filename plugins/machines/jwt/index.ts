/** Short-lived signed access tokens (RFC 9068) for other services, with their public keys and introspection. */
import type { AnyContext, First, Guard, Plugin } from 'authkernel/kernel'
import type {} from 'authkernel/plugins/health'
import { liveClaims } from './introspect.ts'
import { ownClaims, signClaims } from './issue.ts'
import { keyAge } from './keys.ts'
import { metadataMembers } from './metadata.ts'
import { createApi, type JwtApi, type JwtClient } from './methods.ts'
import { type JwtOptions, resolveOptions } from './options.ts'
import { addRoutes } from './routes.ts'
import { statementKeys } from './statements.ts'
import { jwtKeyTable } from './tables.ts'

export type { AccessToken, AccessTokenRequest } from './issue.ts'
export type { JwtApi, JwtClient, RotateOptions } from './methods.ts'
export type { CallerKey, IntrospectionClient, IntrospectionOptions, JwtOptions, TokenQuestion } from './options.ts'
export type { ExternalKey, ExternalKeys } from './external-keys.ts'
export type { PublicKey, SigningAlgorithm, SigningKeyRow } from './tables.ts'

declare module 'authkernel/kernel' {
  interface Events {
    /** A signing key is published, the first one too. `signsFrom` in ISO 8601; `compromised`: all former keys ended. */
    keyRotated: { kid: string; alg: string; signsFrom: string; compromised: boolean }
  }
  interface Hooks {
    /** Whether a token may be issued, and counts when a resource server asks: banned users, members that left. */
    accessToken: Guard<{ claims: Readonly<Record<string, unknown>> }, AnyContext>
    /**
     * What a resource server learns of a token that this plugin did not sign: opaque ones. Members as in RFC 7662 section 2.2; without an `aud`
     * among `audiences` it learns nothing. Null: not live.
     */
    introspect: First<{ token: string; audiences: readonly string[] }, Record<string, unknown> | null>
  }
}

/** Adds `auth.jwt`, `/.well-known/jwks.json` and, with `routes`, `client.jwt`. Throws AuthError for options of the wrong shape. */
export function jwtPlugin(options: JwtOptions = {}): Plugin<JwtApi & JwtClient> {
  const resolved = resolveOptions(options)
  return {
    name: 'jwt',
    requires: ['records'],
    setup(kernel) {
      kernel.records('jwtKey', jwtKeyTable)
      kernel.declareEvent('keyRotated')
      kernel.declareHook('accessToken', 'guard')
      kernel.declareHook('introspect', 'first')
      addRoutes(kernel, resolved)
      // The plugin `health` may be absent.
      kernel.hook('health', ({ checks }) => ({ ...checks, 'signing-key': (ctx) => keyAge(ctx, resolved) }), { of: 'health' })
      kernel.provide('accessTokens', {
        issuer: resolved.issuer,
        sign: (ctx, claims) => signClaims(ctx, resolved, { ...claims, ...ownClaims(ctx, resolved) }),
        verify: (ctx, token, audiences) => liveClaims(ctx, resolved, token, audiences),
      })
      kernel.provide('signingKeys', statementKeys(resolved))
      // Where apps find the public keys, when a plugin has a token endpoint.
      kernel.decorate('appTokens', (inner) => ({
        metadata: async (ctx) => ({ ...(await inner.metadata(ctx)), ...metadataMembers(ctx, resolved) }),
      }))
      return { jwt: createApi(kernel, resolved) }
    },
  }
}
