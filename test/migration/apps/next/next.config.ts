import { dirname } from 'node:path'
import type { NextConfig } from 'next'

// Where the packages are: this app is copied into a folder of another one.
const config: NextConfig = { turbopack: { root: dirname(dirname(import.meta.dirname)) } }

export default config
