/** API keys: programs that act for a user, for a service or for the tenant, with `Authorization: Bearer ak_…` or `x-api-key`. */
import type { AnyContext, First, Guard, Plugin, SessionPart } from 'authkernel/kernel'
import type {} from 'authkernel/plugins/admin'
import { authenticateKey } from './authenticate.ts'
import { addEndings } from './endings.ts'
import { keyTarget } from './key-import.ts'
import { revokeAnyKey } from './manage.ts'
import { addClientMethods, type ApiKeysApi, type ApiKeysClient, createApi } from './methods.ts'
import { type ApiKeysOptions, resolveOptions } from './options.ts'
import { addAccountSection } from './pages.ts'
import { addRoutes } from './routes.ts'
import { type ApiKey, apiKeyTable, type KeyOrganization, type KeyOwner } from './tables.ts'

export { StepUpRequired } from './errors.ts'
export { findKeys, keyPattern, scannerPattern } from './format.ts'
export type { CreatedApiKey, NewApiKey } from './manage.ts'
export type { ApiKeysApi, ApiKeysClient } from './methods.ts'
export type { KeyTaken } from './key-import.ts'
export type { ApiKeysOptions, KeyLimit } from './options.ts'
export type { KeysOf } from './owner.ts'
export type { ApiKey, ApiKeyRow, KeyOrganization, KeyOwner } from './tables.ts'

// Where hosts add theirs: TypeScript loses one of two augmentations that come by different modules.
declare module 'authkernel' {
  interface Session {
    /** There when an API key signed the request in. */
    apiKey?: { id: string; name: string; env: string; scopes: readonly string[]; owner: KeyOwner; organization?: string }
  }
  interface PluginSessionFields {
    apiKey: 'api-keys'
  }
}
declare module 'authkernel/kernel' {
  interface Hooks {
    /** Whether a key counts now: banned owners. */
    apiKey: Guard<{ key: ApiKey }, AnyContext>
    /** What the owner of a key is in the organization that the key is for; null: no member, and the key is rejected. */
    keyOrganization: First<{ organizationId: string; userId: string }, KeyOrganization | null, AnyContext>
  }
}

/**
 * Adds `auth.apiKeys`, and the session of requests that carry a key. A request with a key is never signed in by its cookie.
 * Throws AuthError for options of the wrong shape.
 */
export function apiKeysPlugin(options: ApiKeysOptions = {}): Plugin<ApiKeysApi & ApiKeysClient & SessionPart<'apiKey'>> {
  const resolved = resolveOptions(options)
  return {
    name: 'api-keys',
    requires: ['records', 'limit'],
    prefers: ['session:attributes'],
    setup(kernel) {
      kernel.records('apiKey', apiKeyTable)
      kernel.declareHook('apiKey', 'guard')
      kernel.declareHook('keyOrganization', 'first')
      // Also texts that are no key of this app: a broken or foreign one must not lead to the cookie.
      kernel.credential((headers) => headers.get('x-api-key')?.trim(), { header: 'x-api-key' })
      kernel.credential((headers) => /^(?:Bearer|DPoP) +(.*)$/is.exec(headers.get('authorization') ?? '')?.[1])
      kernel.hook('authenticate', ({ ctx }) => authenticateKey(ctx, resolved))
      addEndings(kernel, resolved)
      kernel.hook('revokeKey', ({ keyId, ctx }) => revokeAnyKey(ctx, keyId), { of: 'admin' })
      kernel.provide('keyImport', keyTarget(resolved))
      if (resolved.routes) {
        addRoutes(kernel, resolved)
        addClientMethods(kernel, resolved)
      }
      if (resolved.accountSection) addAccountSection(kernel, resolved)
      return { apiKeys: createApi(kernel, resolved) }
    },
  }
}
