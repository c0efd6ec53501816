import type { NextConfig } from 'next'

const config: NextConfig = {
  cacheComponents: true,
  // This app lies inside another project with a lock file of its own.
  turbopack: { root: import.meta.dirname },
}

export default config
