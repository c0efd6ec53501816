/** Something a provider did that is rejected. The message is ours. */
export class Refusal extends Error {
  /** Of the answer that was rejected. */
  readonly status: number | undefined
  constructor(message: string, status?: number) {
    super(message)
    this.name = 'Refusal'
    this.status = status
  }
}

/** What is wrong is a token that a client sent, and not the server whose keys it is checked with. */
export class TokenRefusal extends Refusal {}

/** Values that must not reach a log: secrets, codes, tokens. Filled as a flow learns them. */
export type Secrets = Set<string>
