/** Ready-made parts without styles: they draw what the server offers. `authkernel/parts.css` gives them the look of the built-in pages. */
import {
  type AccountPageProps,
  type ApiKeysProps,
  createAccountPage,
  createApiKeys,
  createOrganizationPage,
  createOrganizationSwitcher,
  createProtect,
  createSignIn,
  createSignUp,
  createUserButton,
  type OrganizationPageProps,
  type OrganizationSwitcherProps,
  type PartInstance,
  type PartProps,
  type ProtectDemand,
  type SignInProps,
  type UserButtonProps,
} from 'authkernel/parts'
import type { PageClient } from 'authkernel/client'
import { type FunctionComponent, type ReactNode, useEffect, useId, useRef, useState, useSyncExternalStore } from 'react'
import { drawNode, type PartComponents } from './draw.ts'
import { usePageClient } from './session.ts'

/** Properties of `Protect`. `A`: the type of the client, so that permissions are those of the server. */
export interface ProtectProps<A = unknown> extends ProtectDemand<A> {
  /** For users who have what is asked for. */
  children?: ReactNode
  /** For all others; default: nothing. */
  fallback?: ReactNode
  /** Until the server has answered; default: nothing. */
  pending?: ReactNode
}

/** What every part of React takes beside its own properties. */
export interface ReactPartProps {
  /** Your components instead of elements. Give the same object each time. */
  components?: PartComponents | undefined
}

/** Sign-in with one field for the address or name, then the methods that fit: password, code, link, passkey, providers, second factor. */
export const SignIn: FunctionComponent<SignInProps & ReactPartProps> = /* @__PURE__ */ createComponent(createSignIn)
/** Registration by the methods that the server offers. */
export const SignUp: FunctionComponent<SignInProps & ReactPartProps> = /* @__PURE__ */ createComponent(createSignUp)
/** Who is signed in, with a way to the account and out; else a button that leads to the sign-in page. */
export const UserButton: FunctionComponent<UserButtonProps & ReactPartProps> = /* @__PURE__ */ createComponent(createUserButton)
/** The account: profile, email, password, sign-in methods, second factor, sessions, data. Shows `SignIn` to signed-out visitors. */
export const AccountPage: FunctionComponent<AccountPageProps & ReactPartProps> = /* @__PURE__ */ createComponent(createAccountPage)
/** The organization that the user acts for, with a menu to change it. */
export const OrganizationSwitcher: FunctionComponent<OrganizationSwitcherProps & ReactPartProps> =
  /* @__PURE__ */ createComponent(createOrganizationSwitcher)
/** Members, invitations and settings of an organization. Shows `SignIn` to signed-out visitors. */
export const OrganizationPage: FunctionComponent<OrganizationPageProps & ReactPartProps> =
  /* @__PURE__ */ createComponent(createOrganizationPage)
/** The API keys of the user. Shows `SignIn` to signed-out visitors. */
export const ApiKeys: FunctionComponent<ApiKeysProps & ReactPartProps> = /* @__PURE__ */ createComponent(createApiKeys)

/** Shows its children to users who have what is asked for: `<Protect<typeof client> permission="member:remove">`. It hides; the server must reject. */
export function Protect<A = unknown>({ children, fallback = null, pending = null, ...demand }: ProtectProps<A>): ReactNode {
  const shared = usePageClient()
  const { permission, organization, role, when } = demand
  const latest = useRef(when)
  useEffect(() => void (latest.current = when))
  const hasTest = when !== undefined
  const [store, setStore] = useState(() => createProtect(shared, demand))
  const asked = useRef([shared, permission, organization, role, hasTest])
  useEffect(() => {
    const now = [shared, permission, organization, role, hasTest]
    if (now.every((value, at) => value === asked.current[at])) return
    asked.current = now
    setStore(
      createProtect(shared, { permission, organization, role, ...(hasTest && { when: (session) => latest.current?.(session) ?? true }) }),
    )
  }, [shared, permission, organization, role, hasTest])
  const state = useSyncExternalStore(store.subscribe, store.get, store.getInitial)
  return state === 'allowed' ? children : state === 'refused' ? fallback : pending
}

function createComponent<P extends PartProps>(
  create: (page: PageClient, id: string, readProps: () => P) => PartInstance<P>,
): FunctionComponent<P & ReactPartProps> {
  return (props) => {
    const shared = usePageClient()
    const id = useId()
    const latest = useRef(props)
    useEffect(() => void (latest.current = props))
    const [part] = useState(() => create(shared, id, () => latest.current))
    const state = useSyncExternalStore(part.subscribe, part.get, part.getInitial)
    return drawNode(part.view(state, props), props.components)
  }
}
