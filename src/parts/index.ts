/**
 * `authkernel/parts`: sign-in, account, organizations and API keys for pages of an app, without a framework. `authkernel/react`, `/vue`, `/svelte` and `/solid`
 * draw them; for another framework watch an instance and turn what `view` returns into elements.
 */
export { type AccountPageProps, createAccountPage } from './account.ts'
export { type ApiKeysProps, createApiKeys } from './api-keys.ts'
export type { PartInstance, PartProps } from './machine.ts'
export type { PartChild, PartEvent, PartEventName, PartNode } from './node.ts'
export { createOrganizationPage, type OrganizationPageProps } from './organization.ts'
export { createOrganizationSwitcher, type OrganizationSwitcherProps } from './organization-switcher.ts'
export { createProtect, type PermissionsOf, type ProtectDemand, type ProtectState, type ProtectStore } from './protect.ts'
export { createSignIn, createSignUp } from './sign-in.ts'
export type { SignInProps } from './sign-in-types.ts'
export { loadTexts, type PartTexts, type TextKey, type Texts } from './texts.ts'
export { createUserButton, type UserButtonProps } from './user-button.ts'
