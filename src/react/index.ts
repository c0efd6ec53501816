/** `authkernel/react`: the session for components of React 18 and later, and components without styles. */
export { SessionProvider, type SessionProviderProps, useAuthClient, type UseSession, useSession } from './session.ts'
export { AccountPage, type PartProps, SignInForm, type SignInFormProps, UserButton, type UserButtonProps } from './parts.ts'
