/** The composition root: options become the same `.use()` calls that a host could write. The only kernel file that imports plugins. */
import { adapterPlugin } from 'authkernel/plugins/adapter'
import { credentialsPlugin } from 'authkernel/plugins/credentials'
import { debugPlugin } from 'authkernel/plugins/debug'
import { databaseSessionPlugin } from 'authkernel/plugins/session-database'
import { emailPlugin } from 'authkernel/plugins/email'
import { jwtSessionPlugin } from 'authkernel/plugins/session-jwt'
import { mailPlugin } from 'authkernel/plugins/mail'
import { oauthPlugin } from 'authkernel/plugins/oauth'
import { oidcPlugin } from 'authkernel/plugins/oidc'
import { pagesPlugin } from 'authkernel/plugins/pages'
import { webauthnPlugin, webauthnRoutes } from 'authkernel/plugins/webauthn'
import type { AuthConfig, Env, ProviderInput } from './contract/config.ts'
import type { ProviderFlow } from './contract/flow.ts'
import type { Plugin } from './contract/plugin.ts'
import { ExperimentalFeatureNotEnabled } from './errors/index.ts'
import { type Auth, createKernel, type KernelOptions } from './kernel/create-kernel.ts'
import { fillFromEnv, hasEnvDefaults } from './options/env.ts'
import { checkShapes } from './options/host-options.ts'
import { createLogger } from './runtime/logger.ts'

/** Routes of the library, by the first segment below the base path. */
export type AuthAction = (typeof actions)[number]

const actions = ['callback', 'csrf', 'error', 'providers', 'session', 'signin', 'signout', 'verify-request', 'webauthn-options'] as const

/** Whether a text names a route. */
export function isAuthAction(action: string): action is AuthAction {
  return (actions as readonly string[]).includes(action)
}

/** A kernel with the five provider types, both strategies and the pages; `.use()` replaces any of them. Reads the environment (D41). */
export function createAuth(config: AuthConfig = {}, options: Pick<KernelOptions, 'shared'> = {}): Auth {
  const resolved = withEnvironment(config)
  announceExperimental(resolved)
  return createKernel(resolved, { ...options, preset: presetPlugins(resolved) })
}

function presetPlugins({ adapter, debug, experimental, providers = [] }: AuthConfig): Plugin[] {
  return [
    oauthPlugin(),
    oidcPlugin(),
    emailPlugin(),
    credentialsPlugin(),
    experimental?.enableWebAuthn || providers.some(isPasskey) ? webauthnPlugin() : webauthnGate,
    pagesPlugin(),
    mailPlugin(),
    jwtSessionPlugin(),
    databaseSessionPlugin(),
    ...(adapter ? [adapterPlugin(adapter)] : []),
    ...(debug ? [debugPlugin()] : []),
  ]
}

/** Whether a provider of the options, which may be a function, is of type webauthn. One that throws is called again at compile, where its error becomes the mistake of the configuration. */
function isPasskey(provider: ProviderInput): boolean {
  try {
    return (typeof provider === 'function' ? provider({}) : provider)?.type === 'webauthn'
  } catch {
    return false
  }
}

/** Apps without passkeys load nothing of them. A provider that comes in another way than by the options needs `.use(webauthnPlugin())`. */
const webauthnGate: Plugin = {
  name: 'webauthn-gate',
  setup(kernel) {
    // It reads the id alone, which all providers have.
    kernel.providerType('webauthn', gatedFlow as never, { fallback: true })
    for (const route of webauthnRoutes) kernel.route(route)
  },
}
const gatedFlow: ProviderFlow<{ id: string }> = {
  // Accounts of former days prove no address, whether the type is switched on or not.
  typed: () => false,

  validate({ id }) {
    throw new ExperimentalFeatureNotEnabled(
      `Provider "${id}" is of type webauthn, and the plugin of passkeys is missing: add \`.use(webauthnPlugin())\`, or list the provider in the options.`,
    )
  },
  finish: () => Promise.reject(new ExperimentalFeatureNotEnabled('webauthn is not enabled')),
}

/** A copy of the options with the environment under them (D18). */
function withEnvironment(config: AuthConfig): AuthConfig {
  const copy = checkShapes(config)
  const env: Env | false = config.env ?? processEnv
  if (env) fillFromEnv(env, copy, hasEnvDefaults(config))
  return copy
}

function processEnv(name: string): string | undefined {
  return typeof process === 'undefined' ? undefined : process.env[name]
}

function announceExperimental({ debug, experimental, logger }: AuthConfig): void {
  const { warn } = createLogger(logger)
  if (debug) warn('debug-enabled')
  if (experimental?.enableWebAuthn) warn('experimental-webauthn')
}
