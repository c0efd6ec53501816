/** `authkernel/kernel/users`: for plugins that change what a user has: accounts, addresses, known devices, access. */
export { AccessEnded } from '../../access/access.ts'
export { endAccess } from '../../access/end.ts'
export { isKnownDevice, rememberDevice } from '../../request/known-device.ts'
export { typedNames } from '../../request/typed-names.ts'
export { holdingsOf, removeAdded, takeAddressFrom } from '../../sign-in/take-back.ts'
export { hasTypedAddress } from '../../sign-in/unproved.ts'
