/** Something a provider did that is refused. The message is ours. */
export class Refusal extends Error {
  /** Of the answer that was refused. */
  readonly status: number | undefined
  constructor(message: string, status?: number) {
    super(message)
    this.name = 'Refusal'
    this.status = status
  }
}
