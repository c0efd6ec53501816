import { testAdapter, testServices } from 'authkernel/testing'
import { unstorageAdapter } from 'authkernel/plugins/unstorage'
import { createStorage } from 'unstorage'

testAdapter('unstorage, memory driver', { adapter: () => unstorageAdapter(createStorage()) })
