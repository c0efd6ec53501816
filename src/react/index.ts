/** `authkernel/react`: the session for components of React 18 and later, and ready-made parts without styles. */
export { SessionProvider, type SessionProviderProps, useAuthClient, usePageClient, type UseSession, useSession } from './session.ts'
export {
  AccountPage,
  ApiKeys,
  OrganizationPage,
  OrganizationSwitcher,
  Protect,
  type ProtectProps,
  type ReactPartProps,
  SignIn,
  SignUp,
  UserButton,
} from './parts.ts'
export type { PartComponents } from './draw.ts'
export type {
  AccountPageProps,
  ApiKeysProps,
  OrganizationPageProps,
  OrganizationSwitcherProps,
  PartTexts,
  SignInProps,
  UserButtonProps,
} from 'authkernel/parts'
