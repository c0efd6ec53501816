/**
 * Sign-in by SAML 2.0 (Web Browser SSO and Single Logout profiles), with `@node-saml/node-saml` 5.1, an optional peer that the first sign-in loads. What an
 * identity provider says is read from the bytes that it signed, and from nothing else.
 */
import {
  lazily,
  type AnyContext,
  type Plugin,
  type ProviderFlow,
  type ProviderOf,
  type ProviderOptionsOf,
  providerPlugin,
} from 'authkernel/kernel'
import { addLogout } from './logout-hooks.ts'
import { messages } from './messages.ts'
import type { SamlMetadata } from './metadata.ts'
import { optionNames } from './options.ts'
import { addPages } from './pages.ts'
import { logouts, requests, sessionName } from './pending.ts'
import { addRoutes } from './routes.ts'

export type { SamlAnswer } from './answer.ts'
export { SamlMetadataError, SamlProviderChanged, SamlResponseRefused, SamlStatusError } from './errors.ts'
export type { SamlCheck, SamlRefusalFacts } from './errors.ts'
export type { SamlMetadata } from './metadata.ts'
export type { SamlConfig, SamlIdp, SamlKeyPair } from './options.ts'
export { acceptSha1 } from './symbols.ts'

const load = /* @__PURE__ */ lazily(() => import('./service.ts'))

type Saml = ProviderOf<'saml'>
/** Options of one SAML provider; `id` defaults to `saml`, `name` to the id. */
export type SamlInput = ProviderOptionsOf<'saml'>

/** Reads metadata of identity providers: for plugins that store connections. */
export interface SamlMetadataReader {
  /** The one identity provider of a document. Throws SamlMetadataError. */
  parse(xml: string): Promise<SamlMetadata>
  /** The same from an https address that a customer chose. Throws SamlMetadataError, and NetworkError of the service `publicFetch`. */
  read(ctx: AnyContext, url: string): Promise<SamlMetadata>
}

declare module 'authkernel/kernel' {
  interface Services {
    samlMetadata: SamlMetadataReader
  }
}

const samlFlow: ProviderFlow<Saml> = {
  // Answers come to `/saml/:provider/acs`, which takes larger bodies.
  callback: { GET: false, POST: false },
  options: optionNames,
  provesAddress: ({ trustEmail = false }) => trustEmail === true || (typeof trustEmail !== 'boolean' && trustEmail.length > 0),
  // An address that it may vouch for is stored as verified at the sign-in.
  vouches: () => false,
  validate: async (provider) => (await load()).validateProvider(provider),
  check: async () => (await load()).loadSamlLibrary(),
  start: async (ctx, provider) => (await load()).startSamlSignIn(ctx, provider),
  stepUp: async (...given) => (await load()).startStepUp(...given),
  finish: async (ctx) => (await load()).finishSamlSignIn(ctx),
}

/**
 * Registers the provider type `saml` with its routes below `/saml/:provider`, and the providers given:
 * `samlPlugin({ id: 'acme', name: 'Acme', metadata: 'https://idp.acme.example/metadata' })`. Without providers it serves those that the hook `provider` answers.
 */
export const samlPlugin: (...providers: (SamlInput | (() => SamlInput))[]) => Plugin<void> = /* @__PURE__ */ providerPlugin({
  type: 'saml',
  flow: samlFlow,
  defaults: { id: 'saml', name: 'SAML' },
  setup(kernel) {
    kernel.pending(requests)
    kernel.pending(logouts)
    kernel.cookie(sessionName)
    kernel.messages(messages)
    kernel.provide('samlMetadata', {
      parse: async (xml) => (await load()).parseMetadata(xml),
      read: async (ctx, url) => (await load()).fetchMetadata(ctx, url),
    })
    addPages(kernel)
    addRoutes(kernel)
    addLogout(kernel, load)
    kernel.preload(async () => load())
  },
})
