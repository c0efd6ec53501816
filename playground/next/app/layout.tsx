import { type ReactNode, Suspense } from 'react'
import { auth } from '../auth'
import { leave } from './actions'

export const metadata = { title: 'Playground', icons: { icon: 'data:,' } }

// What knows who is signed in is inside Suspense: with `cacheComponents` the rest is prerendered.
export default function Layout({ children }: { children: ReactNode }) {
  return (
    <html lang="en">
      <head>
        <link rel="stylesheet" href="/style.css" />
      </head>
      <body>
        <header>
          <a href="/">Playground</a>
          <nav className="row" aria-label="Pages">
            <a href="/protected">Protected page</a>
            <Suspense>
              <Member />
            </Suspense>
          </nav>
        </header>
        <main>
          <Suspense>{children}</Suspense>
        </main>
      </body>
    </html>
  )
}

async function Member() {
  const session = await auth()
  if (!session?.user) return null
  return (
    <>
      <a href="/account">Your account</a>
      <span>
        Signed in as <b id="who">{session.user.name ?? session.user.email}</b>
      </span>
      <form action={leave}>
        <button>Sign out</button>
      </form>
    </>
  )
}
