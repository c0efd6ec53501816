/** What the examples of docs/reference are about: a provider type, a record and a hook of a made-up plugin. */
import type { Awaitable, CommonProviderOptions, Guard, ProviderFlow, ProviderOf, SessionStrategy } from 'authkernel/kernel'

export interface DoorCardConfig extends CommonProviderOptions {
  type: 'door-card'
  people: readonly { id: string; card: string }[]
}
declare module 'authkernel/kernel' {
  interface ProviderTypes {
    'door-card': DoorCardConfig
  }
  interface Hooks {
    doorOpens: Guard<{ provider: DoorCardConfig; now: Date }>
  }
  interface Events {
    doorOpened: { card: string }
  }
  interface Records {
    shopNote: { userId: string; text: string }
  }
  interface SessionStrategies {
    ticket: SessionStrategy
  }
  interface Services {
    doorCards: { find(card: string): Awaitable<string | undefined> }
  }
}
export declare const doorCardFlow: ProviderFlow<ProviderOf<'door-card'>>
