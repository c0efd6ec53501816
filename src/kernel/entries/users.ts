/** `authkernel/kernel/users`: for plugins that change what a user has: accounts, addresses, known devices, access. */
export { AccessEnded } from '../../access/access.ts'
export { endAccess } from '../../access/end.ts'
export { isKnownDevice, rememberDevice, typedNames } from '../../request/sign-in-names.ts'
export { listOwnedRows } from '../../sign-in/owned-rows.ts'
export { mayCreateUser, storeNewUser } from '../../sign-in/create-user.ts'
export { findOwnUser } from '../../sign-in/prove-again.ts'
export { holdingsOf, removeAdded, takeAddressFrom } from '../../sign-in/take-back.ts'
export { hasTypedAddress } from '../../sign-in/unproved.ts'
