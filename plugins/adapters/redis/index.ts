/** Sessions, replay protection and attempts in Redis or Valkey, beside an adapter that has the users. */
export type { IoredisClient, NodeRedisClient, NodeRedisCluster, RedisClient, RedisFunction } from './client.ts'
export type { ServerFaults } from './faults.ts'
export { redisLimit, redisOnce, type RedisOnceOptions } from './services.ts'
export { redisSessions, type RedisStoreOptions } from './sessions.ts'
