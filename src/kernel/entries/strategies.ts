/** `authkernel/kernel/strategies`: for session strategies, and for plugins that decorate or replace one. */
export { outdatedKey, unanswered } from '../../contract/symbols.ts'
export { MissingSessionAbility, strategyWith } from '../../registry/abilities.ts'
export { contextBehind, cookiesToStore, redirectBehind } from '../../request/stored-sessions.ts'
export { indexed, isFreshProof } from '../../session/attributes.ts'
export { reportUnguarded, withKind } from '../../session/kinds.ts'
export { sessionRecord } from '../../session/record.ts'
export { strategyMethods } from '../../session/strategy.ts'
export { hasFreshProof } from '../../sign-in/prove-again.ts'
