/** `authkernel/kernel/strategies`: for session strategies, and for plugins that decorate or replace one. */
export { outdatedKey, noAnswer } from '../../contract/symbols.ts'
export { MissingSessionAbility, strategyWith } from '../../registry/strategies.ts'
export { contextBehind, cookiesToStore, redirectBehind } from '../../request/stored-sessions.ts'
export { indexedName, isFreshProof } from '../../session/attributes.ts'
export { reportUnguarded, withKind } from '../../session/kinds.ts'
export { copyShownFields, isProfileChanged, renewShownUser, toSessionUser } from '../../session/session-user.ts'
export { sessionRecord, strategyMethods } from '../../session/strategy.ts'
export { hasFreshProof, leadToProof } from '../../sign-in/prove-again.ts'
