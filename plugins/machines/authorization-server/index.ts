/** The app as provider: OAuth 2.1 authorization server and OpenID Provider, for partners, other apps and AI agents. */
import { AuthError, type First, type Kernel, type Plugin } from 'authkernel/kernel'
import { nodeCrypto } from 'authkernel/kernel/protocols'
import type {} from 'authkernel/plugins/jwt'
import { addReturnPage } from '../bearer/return-page.ts'
import { addAccountSection } from './pages.ts'
import type { ClientAct } from './client-administration.ts'
import { signingMembers } from './client-metadata.ts'
import { clientTarget, consentTarget } from './client-import.ts'
import { addApproval } from './ciba-approve.ts'
import { declareNotice } from './ciba-notice.ts'
import { addDevicePages } from './device-pages.ts'
import { addConsentPage } from './consent.ts'
import { addAgentEndings, addEndings } from './endings.ts'
import { addSignedOutPage } from './front-channel.ts'
import { addLogoutPage } from './logout.ts'
import { messages } from './messages.ts'
import { type AuthorizationServerApi, createApi } from './methods.ts'
import { certificateMethods } from './mutual-tls.ts'
import { type AuthorizationServerOptions, type ResolvedOptions, resolveOptions } from './options.ts'
import { addClientMethods, type AuthorizationServerClient } from './methods-organization.ts'
import { addMembershipEnding } from './organization-consent.ts'
import { addOrganizationPages } from './pages-organization.ts'
import { addRoutes } from './routes.ts'
import { createAdministration, createService } from './service.ts'
import type { ExchangeMode, ExchangeQuestion } from './token-exchange.ts'
import { oauthBackchannelTable, oauthDeviceCodeTable } from './tables-polled.ts'
import {
  oauthEndedGrantTable,
  oauthClientTable,
  oauthCodeTable,
  oauthConsentTable,
  oauthOrganizationConsentTable,
  oauthGrantTable,
  oauthRequestTable,
} from './tables.ts'

export type { ClientTaken, ConsentTaken } from './client-import.ts'
export type { ClientAuthMethod, ClientGrantType, ClientMetadata } from './client-metadata.ts'
export type {
  HonoLikeContext,
  McpAuthInfo,
  NodeLikeRequest,
  NodeLikeResponse,
  NodeResourceHandler,
  NodeResourceRoute,
  ResourceCaller,
  ResourceDecision,
  ResourceDemand,
  ResourceGuards,
  ResourceHandler,
  ResourceRoute,
} from './mcp.ts'
export type { ChangedMetadata, ClientAct, ClientActor, ClientChange, MadeClient } from './client-administration.ts'
export type { ClientPage, ClientSearch, ListedClient } from './client-list.ts'
export type { AuthorizationServerClient } from './methods-organization.ts'
export type { OrganizationClientOptions } from './organization-client-options.ts'
export type { NewOrganizationClient } from './organization-clients.ts'
export type { AuthorizationServerApi, ConnectedApp, OrganizationApp } from './methods.ts'
export type {
  AuthorizationDetail,
  AuthorizationDetailType,
  AuthorizationServerOptions,
  CibaOptions,
  ClaimsQuestion,
  OrganizationConsentOptions,
  ScopeProof,
  ClientOptions,
  RegistrationOptions,
  ResourceOptions,
  ScopeQuestion,
} from './options.ts'
export type { ClientAdministration, ResourceTokens } from './service.ts'
export type { ExchangeMode, ExchangeQuestion } from './token-exchange.ts'
export type { OAuthBackchannelRow, OAuthDeviceCodeRow } from './tables-polled.ts'
export type {
  ActClaim,
  NamedClaims,
  OAuthClientRow,
  OAuthCodeRow,
  OAuthConsentRow,
  OAuthEndedGrantRow,
  OAuthGrantRow,
  OAuthOrganizationConsentRow,
  OAuthRequestRow,
} from './tables.ts'

/** Which grant an event is about. */
export interface ClientGrantEvent {
  /** Names the grant, opens nothing. */
  id: string
  /** Null: the client has it for itself. */
  user: { id: string } | null
  clientId: string
}
declare module 'authkernel/kernel' {
  interface Hooks {
    /**
     * Whether a client may exchange a token (RFC 8693), and how: with `delegation` the new token names the actor, with `impersonation` it does not.
     * Without a handler that answers so the exchange is rejected.
     */
    tokenExchange: First<ExchangeQuestion, ExchangeMode | false>
  }
  interface Events {
    /** A user allowed a client some scopes. */
    clientAuthorized: { user: { id: string }; clientId: string; scopes: readonly string[] }
    /** A client registered itself (RFC 7591). */
    clientRegistered: { clientId: string; name: string }
    /**
     * A stored client was made, changed, or kept out. `by`: code of the host, an administrator, or the client itself (RFC 7592). `user`: who did it; null: no user.
     * `members`: names of what was changed.
     */
    clientChanged: {
      clientId: string
      name: string
      act: ClientAct
      by: 'host' | 'admin' | 'client' | 'organization'
      user: { id: string } | null
      /** The organization that the client belongs to; null: none. */
      organizationId: string | null
      members: readonly string[]
      reason: string
    }
    /** A client got its first tokens of a user. */
    clientGranted: ClientGrantEvent
    /** A refresh token came back that was used before, or by another client: it was copied. The grant has ended. */
    clientTokenReused: ClientGrantEvent
    /** A client exchanged a token (RFC 8693). `from`: the client of the token. `actor`: who acts; null: the client speaks as the user. */
    clientTokenExchanged: ClientGrantEvent & { from: string; actor: string | null }
    /** A client got an assertion of a user for another server (ID-JAG). */
    identityAsserted: { user: { id: string }; clientId: string; audience: string; scopes: readonly string[] }
    /** An administrator allowed a client for all members of an organization, or took it back. `user`: null for code of the host. */
    organizationAllowedClient: {
      user: { id: string } | null
      organizationId: string
      clientId: string
      scopes: readonly string[]
      what: 'allowed' | 'revoked'
    }
    /** `by`: `client`, `user`, `access`, `session`, `revoked`, or `code` for a code that came twice. */
    clientGrantEnded: ClientGrantEvent & { by: string }
  }
}

/** Adds the endpoints, the pages and `auth.authorizationServer`. Needs jwtPlugin for the signing keys. Throws AuthError for options of the wrong shape. */
export function authorizationServerPlugin(
  options: AuthorizationServerOptions = {},
): Plugin<AuthorizationServerApi & AuthorizationServerClient> {
  const resolved = resolveOptions(options)
  return {
    name: 'authorization-server',
    requires: [
      ...(['records', 'store:getUser', 'pages', 'limit', 'signingKeys', 'session:attributes'] as const),
      ...(resolved.organizationClients ? (['organizations'] as const) : []),
    ],
    setup(kernel) {
      assertCertificates(kernel, resolved)
      kernel.records('oauthClient', oauthClientTable)
      kernel.records('oauthRequest', oauthRequestTable)
      kernel.records('oauthCode', oauthCodeTable)
      kernel.records('oauthGrant', oauthGrantTable)
      kernel.records('oauthConsent', oauthConsentTable)
      kernel.records('oauthOrganizationConsent', oauthOrganizationConsentTable)
      kernel.declareEvent(
        'clientAuthorized',
        'clientRegistered',
        'clientChanged',
        'clientGranted',
        'clientTokenReused',
        'clientGrantEnded',
        'identityAsserted',
        'organizationAllowedClient',
      )
      kernel.records('oauthBackchannel', oauthBackchannelTable)
      kernel.records('oauthDeviceCode', oauthDeviceCodeTable)
      kernel.records('oauthEndedGrant', oauthEndedGrantTable)
      kernel.declareEvent('clientTokenExchanged')
      kernel.declareHook('tokenExchange', 'first')
      kernel.messages(messages)
      kernel.decorate('signingKeys', ({ maxAge, algorithms }) => {
        for (const [id, { metadata }] of resolved.clients)
          for (const name of signingMembers)
            if (metadata[name] !== undefined && !algorithms.includes(metadata[name]))
              throw new AuthError(
                `Plugin "authorization-server": \`${name}\` of the client "${id}" is ${metadata[name]}, and plugin "jwt" signs by ${algorithms.join(', ')}. Add it to \`algorithms\` of jwtPlugin.`,
              )
        if (resolved.tokenAge > maxAge)
          throw new AuthError(
            `Plugin "authorization-server": \`accessTokenAge\` is ${resolved.tokenAge} and \`maxAge\` of plugin "jwt" is ${maxAge}. A token must not outlive the keys: raise \`maxAge\` of jwtPlugin.`,
          )
        return {}
      })
      kernel.provide('clientImport', clientTarget(resolved))
      kernel.provide('consentImport', consentTarget())
      addConsentPage(kernel, resolved)
      if (resolved.ciba) {
        addApproval(kernel, resolved)
        declareNotice(kernel)
        addAgentEndings(kernel, resolved)
      }
      if (resolved.device) addDevicePages(kernel)
      addLogoutPage(kernel)
      addSignedOutPage(kernel)
      addReturnPage(kernel, 'clientReturn', 'authorization-server')
      addAccountSection(kernel, resolved)
      addEndings(kernel, resolved)
      addMembershipEnding(kernel, resolved)
      addRoutes(kernel, resolved)
      if (resolved.organizationClients) {
        addOrganizationPages(kernel, resolved)
        addClientMethods(kernel, resolved)
      }
      kernel.provide('resourceTokens', createService(resolved))
      kernel.provide('clientAdministration', createAdministration(resolved))
      return { authorizationServer: createApi(kernel, resolved) }
    },
  }
}

/** Throws AuthError where certificates could not be read, or where every client could write the header. */
function assertCertificates({ config }: Kernel, { clients, mutualTls }: ResolvedOptions): void {
  const fault = (text: string): AuthError => new AuthError(`Plugin "authorization-server": ${text}`)
  if (mutualTls && !config.trustProxy)
    throw fault('`mutualTls` reads a header of a proxy, and `trustProxy` is off. Set `trustProxy` where a proxy ends TLS.')
  if (mutualTls && !nodeCrypto()) throw fault('`mutualTls` reads certificates by node:crypto, which this runtime does not have.')
  for (const [id, { metadata }] of clients) {
    const method = metadata.token_endpoint_auth_method
    if (method.endsWith('tls_client_auth') && !certificateMethods(mutualTls).includes(method))
      throw fault(`the client "${id}" authenticates by "${method}", which needs \`mutualTls\`${mutualTls ? ' with `chainVerified`' : ''}.`)
    if (metadata.tls_client_certificate_bound_access_tokens && !mutualTls)
      throw fault(`the client "${id}" has \`tls_client_certificate_bound_access_tokens\`, which needs \`mutualTls\`.`)
  }
}
