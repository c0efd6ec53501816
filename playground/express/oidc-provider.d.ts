/** The parts of `oidc-provider` 9 that the playground uses; the package has no types of its own. */
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http'

  export interface Interaction {
    uid: string
    params: Record<string, string | undefined>
    prompt: {
      name: 'login' | 'consent'
      details: { missingOIDCScope?: string[]; missingOIDCClaims?: string[] }
    }
    session?: { accountId: string }
    grantId?: string
  }
  export interface Grant {
    addOIDCScope(scope: string): void
    addOIDCClaims(claims: string[]): void
    save(): Promise<string>
  }
  export default class OpenIDProvider {
    constructor(issuer: string, configuration: Record<string, unknown>)
    callback(): (req: IncomingMessage, res: ServerResponse) => Promise<void>
    interactionDetails(req: IncomingMessage, res: ServerResponse): Promise<Interaction>
    interactionFinished(
      req: IncomingMessage,
      res: ServerResponse,
      result: Record<string, unknown>,
      options: { mergeWithLastSubmission: boolean },
    ): Promise<void>
    Client: { find(id: string): Promise<{ clientId: string; clientName?: string } | undefined> }
    Grant: { new (properties: { accountId: string; clientId: string }): Grant; find(id: string): Promise<Grant | undefined> }
    on(event: string, listener: (...args: unknown[]) => void): void
  }
}
