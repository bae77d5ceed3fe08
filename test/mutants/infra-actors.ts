// Faults in infra/ and in the actors: channel, webhook, sweeper.
import type { Mutant } from './mutant.ts'

export const INFRA_ACTORS: readonly Mutant[] = [
  // infra/broker
  {
    fault: 'a publish on the embedded broker resolves when its message is to be retried, before the work is done',
    file: 'infra/broker/embedded/work-queue.ts',
    original: '      else retryLater(message, settlement.afterMs)',
    planted: '      else {\n        finish(message)\n        retryLater(message, settlement.afterMs)\n      }',
    tests: ['test/infra/broker/embedded/work-queue.test.ts'],
  },
  {
    fault: 'a message whose handler hangs past the grace is lost when its consumer stops',
    file: 'infra/broker/dispatcher.ts',
    original: '      options.requeue(takeUnfinished())',
    planted: '      takeUnfinished()',
    tests: ['test/infra/broker/dispatcher.test.ts', 'test/infra/broker/embedded/work-queue.test.ts'],
  },
  {
    fault: 'RabbitMQ confirms a message for a queue that does not exist, and the message is gone',
    file: 'infra/broker/amqp/publisher.ts',
    original: 'mandatory: true, persistent: true',
    planted: 'mandatory: false, persistent: true',
    tests: ['test/contract/broker.amqp.test.ts'],
    needs: 'RabbitMQ',
  },
  {
    fault: 'a message is acknowledged before its retry is published, and lost when the publish fails',
    file: 'infra/broker/amqp/work-consumer.ts',
    original:
      'await publisher.send(to, delivery.message.content, publishOptions)\n        return acknowledger.ack(delivery)',
    planted:
      'acknowledger.ack(delivery)\n        return await publisher.send(to, delivery.message.content, publishOptions)',
    tests: ['test/faults/processes/broker.amqp.test.ts'],
    needs: 'RabbitMQ',
  },
  {
    fault: 'a message whose handler throws is buried at once, and never tried again',
    file: 'infra/broker/dispatcher.ts',
    original: 'const afterMs = delays[failures]',
    planted: 'const afterMs = delays[delays.length + failures]',
    tests: ['test/infra/broker/dispatcher.test.ts'],
  },

  // infra/store
  {
    fault: 'a primary that steps down in a bulk is taken for a refusal, and buries accepted sends',
    file: 'infra/store/mongo/errors.ts',
    original: ' || refused.some(({ code }) => !isFinalCode(code)))',
    planted: ')',
    tests: ['test/infra/store/mongo.errors.test.ts'],
  },
  {
    fault: 'an error of MongoDB without a known label counts as final',
    file: 'infra/store/mongo/errors.ts',
    original: ' || !isFinalCode(error.code)',
    planted: '',
    tests: ['test/infra/store/mongo.errors.test.ts'],
  },
  {
    fault: 'a write of the embedded store is answered although its commit failed',
    file: 'infra/store/embedded/group-commit.ts',
    original: '    return () => resolve(answer)',
    planted: '    resolve(answer)\n    return () => {}',
    tests: ['test/infra/store/embedded.group-commit.test.ts'],
  },
  {
    fault: 'every thousandth document is lost when a collection of the embedded store gets another index',
    file: 'infra/store/embedded/schema.ts',
    original: 'rowid > ? AND rowid <= ?',
    planted: 'rowid > ? AND rowid < ?',
    tests: ['test/faults/processes/store.embedded.test.ts'],
  },
  {
    fault: 'a change of a document that is not there wins on MongoDB',
    file: 'infra/store/mongo/bulk-change.ts',
    original: '(revs.get(_id) ?? rev) > rev',
    planted: '(revs.get(_id) ?? rev) >= rev',
    tests: ['test/contract/store.mongo.test.ts'],
    needs: 'MongoDB',
  },
  {
    fault: 'an insert of many on MongoDB ends at the first duplicate, and the rest is answered as inserted',
    file: 'infra/store/mongo/docs.ts',
    original: 'insertMany(docs as unknown as MongoDoc[], { ordered: false })',
    planted: 'insertMany(docs as unknown as MongoDoc[], { ordered: true })',
    tests: ['test/contract/store.mongo.test.ts'],
    needs: 'MongoDB',
  },

  // infra/http and infra/outbound
  {
    fault: "a guesser of operators' tokens gets ten more guesses with every address of its own IPv6 network",
    file: 'infra/http/attempt-throttle.ts',
    original: 'const COUNTED_NETWORK = { ipv4: 32, ipv6: 64 }',
    planted: 'const COUNTED_NETWORK = { ipv4: 32, ipv6: 128 }',
    tests: ['test/infra/http/operators.test.ts'],
  },
  {
    fault: 'a client that sends its request byte by byte keeps its connection for ever',
    file: 'infra/http/malformed-requests.ts',
    original: 'headersTimeout: 15_000, requestTimeout: 30_000',
    planted: 'headersTimeout: 0, requestTimeout: 0',
    tests: ['test/infra/http/malformed-requests.test.ts'],
  },
  {
    fault: 'public addresses are called over plain http where the operator allows some private ones',
    file: 'infra/outbound/connector.ts',
    original: "    return verdict === 'allowed' || (verdict === 'public' && tls)",
    planted: "    return verdict !== 'refused'",
    tests: ['test/infra/outbound/target-inspector.test.ts'],
  },

  // infra: settings, secrets and the log
  {
    fault: 'an edge holds the secrets that codes are derived from',
    file: 'infra/config/role-secrets.ts',
    original: "  edge: ['DATA_KEYS'],",
    planted: "  edge: ['CODE_SECRETS', 'DATA_KEYS'],",
    tests: ['test/infra/config/role-secrets.test.ts'],
  },
  {
    fault: 'low codes are a little more likely than others',
    file: 'infra/crypto/code.ts',
    original: 'if (word < unbiasedRange)',
    planted: 'if (word <= unbiasedRange)',
    tests: ['test/infra/crypto/code.test.ts'],
  },
  {
    fault: 'a verification token is logged where nothing else in the text looks like a secret',
    file: 'infra/log/scrub.ts',
    original: '|otp_vt_|whsec_|',
    planted: '|whsec_|',
    tests: ['test/infra/log/redact.test.ts'],
  },

  // infra: the process, leases, batches
  {
    fault: 'a process is ready while one of its consumers is detached',
    file: 'infra/readiness.ts',
    original: "const ok = phase !== 'starting' && attached === consumers.length",
    planted: "const ok = phase !== 'starting' && (attached > 0 || consumers.length === 0)",
    tests: ['test/infra/host.readiness.test.ts'],
  },
  {
    fault: 'the lease of a process that died never passes to another',
    file: 'infra/leases.ts',
    original: 'const mayTake = { _id, $or: [{ holder }, { until: { $lte: clock.now() } }] }',
    planted: 'const mayTake = { _id, holder }',
    tests: ['test/infra/leases.test.ts'],
  },
  {
    fault: 'a caller gets the results of another one after a caller with several items',
    file: 'infra/batcher.ts',
    original: '        at += request.items.length',
    planted: '        at += 1',
    tests: ['test/infra/batcher.test.ts'],
  },

  // services/channel
  {
    fault: 'a delivery that an old primary does not know yet is dropped as erased',
    file: 'services/channel/deliver.ts',
    original: '(await find(body)) ?? (await find(body, { certain: true }))',
    planted: 'await find(body)',
    tests: ['test/services/channel/deliver.test.ts'],
  },
  {
    fault: 'a shut provider is passed over although another process may have sent the message with it',
    file: 'services/channel/deliver.ts',
    original: '        await loadHistory(job)\n        shutProviders.add(candidate.name)',
    planted: '        shutProviders.add(candidate.name)',
    tests: ['test/services/channel/failover.test.ts'],
  },
  {
    fault: 'a process that has one message twice at once calls the provider twice',
    file: 'services/channel/provider-attempts.ts',
    original: 'const isNew = isOwn(stored) && (stored.maker?.try === maker.try || own.takeUncalled(stored._id))',
    planted: 'const isNew = isOwn(stored)',
    tests: ['test/services/channel/call-provider.test.ts'],
  },
  {
    fault: 'a slot of the provider is lost with every attempt that the store does not take',
    file: 'services/channel/call-provider.ts',
    original: '      permit?.release()\n      throw error',
    planted: '      throw error',
    tests: ['test/services/channel/call-provider.test.ts'],
  },
  {
    fault: 'a half open circuit lets any number of calls through to a provider that may still be broken',
    file: 'services/channel/admission/breaker.ts',
    original: 'probing = circuit.halfOpen',
    planted: 'probing = false',
    tests: ['test/services/channel/admission/breaker.test.ts'],
  },
  {
    fault: 'a refused callback counts as one under way for ever: after 256 of them every vendor gets 503',
    file: 'services/channel/callbacks/router.ts',
    original: '    } finally {\n      inProgress -= 1',
    planted: '      inProgress -= 1\n    } catch (error) {\n      throw error',
    tests: ['test/services/channel/callbacks/router.test.ts'],
  },
  {
    fault: 'one callback more than the limit is handled at the same time',
    file: 'services/channel/callbacks/router.ts',
    original: 'inProgress >= MAX_CONCURRENT_CALLBACKS',
    planted: 'inProgress > MAX_CONCURRENT_CALLBACKS',
    tests: ['test/services/channel/callbacks/router.test.ts'],
  },
  {
    fault: "a provider of one app reports on another app's delivery",
    file: 'services/channel/callbacks/receipts.ts',
    original: 'attempt => attempt.app_id === app_id && attempt.provider === provider',
    planted: 'attempt => attempt.provider === provider',
    tests: ['test/services/channel/callbacks/router.test.ts'],
  },
  {
    fault: "the signature of Twilio's callbacks is checked over the fields in the order they came",
    file: 'services/channel/providers/twilio.signature.ts',
    original: '    .sort()\n    .flatMap(name =>',
    planted: '    .flatMap(name =>',
    tests: ['test/services/channel/providers/twilio.receipts.test.ts'],
  },
  {
    fault: "the hash of Vonage's callbacks is compared with that of the decoded text, not of the bytes",
    file: 'services/channel/providers/vonage.jwt.ts',
    original: "createHash('sha256').update(body).digest('hex')",
    planted: "createHash('sha256').update(new TextDecoder().decode(body)).digest('hex')",
    tests: ['test/services/channel/providers/vonage.receipts.test.ts'],
  },
  {
    fault: "a message is in the app's language although the caller asked for another",
    file: 'services/channel/deliver.ts',
    original: 'chooseLocale(otp.locale, app.settings.locale, LANGUAGES)',
    planted: 'chooseLocale(app.settings.locale, otp.locale, LANGUAGES)',
    tests: ['test/services/channel/deliver.test.ts'],
  },

  // services/webhook
  {
    fault: 'an endpoint that has just answered 410 is called for the next event before it is paused',
    file: 'services/webhook/event-attempts.ts',
    original: '      if (isSuccess(result)) track(recorded)\n      else await recorded',
    planted: '      if (isSuccess(result)) await recorded\n      else track(recorded)',
    tests: ['test/services/webhook/isolation.test.ts'],
  },
  {
    fault: 'an app without calls under way is not woken when the call of another app ends',
    file: 'services/webhook/slots.ts',
    original:
      '      wake(tenant.app_id)\n      for (const one of [...waiters.keys()]) if (byApp.of(one) === 0) wake(one)',
    planted: '      wake(tenant.app_id)',
    tests: ['test/services/webhook/slots.test.ts'],
  },
  {
    fault: 'a second reminder of a call that is under way takes it for lost, and the event is sent twice',
    file: 'services/webhook/reminders.ts',
    original: '    if (clock.now() < change.assumedLostAt(attempt_started_at)) return\n    await recordResult(event, {',
    planted: '    await recordResult(event, {',
    tests: ['test/services/webhook/recovery.test.ts'],
  },
  {
    fault: 'of an event with more than twenty attempts the first are kept, and not the latest',
    file: 'services/webhook/event-changes.ts',
    original: '$slice: -MAX_ATTEMPTS_KEPT',
    planted: '$slice: MAX_ATTEMPTS_KEPT',
    tests: ['test/services/webhook/pausing.test.ts', 'test/services/webhook/retries.test.ts'],
  },

  // services/sweeper
  {
    fault: 'a sweep that fails keeps all sweeps after it from running',
    file: 'services/sweeper/service.ts',
    original: "sweepOne(name, sweep, held).catch(error => log.warn({ err: error, sweep: name }, 'sweep.failed'))",
    planted: 'sweepOne(name, sweep, held)',
    tests: ['test/services/sweeper/service.test.ts'],
  },
  {
    fault: 'a sweeper that stops keeps its leases, so nothing is swept until their time has passed',
    file: 'services/sweeper/service.ts',
    original: 'await accounts.settled()\n      await leases.releaseAll()',
    planted: 'await accounts.settled()',
    tests: ['test/services/sweeper/service.test.ts'],
  },
  {
    fault: 'the hold of a resend that was cut off is never voided, because its verification has another delivery',
    file: 'services/sweeper/holds.ts',
    original: '.some(one => one.delivery_id === delivery_id)',
    planted: '.some(() => delivery_id !== null)',
    tests: ['test/services/sweeper/holds.test.ts'],
  },
  {
    fault: 'the only process publishes again at once what it has saved in the millisecond of its start',
    file: 'services/sweeper/verifications.ts',
    original: 'const beforeStart = soleProcess ? clock.now() - 1 : 0',
    planted: 'const beforeStart = soleProcess ? clock.now() : 0',
    tests: ['test/services/sweeper/verifications.test.ts'],
  },
  {
    fault: 'a rotation stays done although a process that was not restarted seals users with the older key',
    file: 'services/sweeper/rotation.ts',
    original: 'if (areCurrent && users.every(',
    planted: 'if (areCurrent || users.every(',
    tests: ['test/services/sweeper/rotation.test.ts'],
  },
  {
    fault: 'the hold of a verification that an old primary does not know yet is voided',
    file: 'services/sweeper/holds.ts',
    original: 'unconfirmed.filter(hold => !hasDelivery(hold, certain)).map(voidHold)',
    planted: 'unconfirmed.filter(hold => certain && hold).map(voidHold)',
    tests: ['test/services/sweeper/holds.test.ts'],
  },
  {
    fault: 'a queued delivery whose message the broker lost is never published again',
    file: 'services/sweeper/owed-deliveries.ts',
    original: 'if (!isWithBroker) publishAgain(otp, delivery)',
    planted: 'if (!isWithBroker) void publishAgain',
    tests: ['test/services/sweeper/owed-deliveries.test.ts'],
  },
  {
    fault: 'a lost message is not published again while others keep its queue on RabbitMQ busy',
    file: 'services/sweeper/lost-messages.ts',
    original: 'return (await taken) < at + OVERTAKING_MS',
    planted: 'return (await taken) < at + OVERTAKING_MS || ready > 0',
    tests: ['test/services/sweeper/owed-deliveries.test.ts', 'test/services/sweeper/owed-events.test.ts'],
  },
  {
    fault: 'a backlog that is still in the queue on RabbitMQ is published again',
    file: 'services/sweeper/lost-messages.ts',
    original: 'if (ready === 0) return false',
    planted: 'if (ready === 0 || oldestMs === null) return false',
    tests: ['test/services/sweeper/owed-deliveries.test.ts', 'test/services/sweeper/owed-events.test.ts'],
  },
  {
    fault: 'an event whose message was lost is looked for once, and not again when the next message is lost too',
    file: 'services/sweeper/owed-events.ts',
    original: 'if (next !== null) await otps.update(',
    planted: 'if (next === 0) await otps.update(',
    tests: ['test/services/sweeper/owed-events.test.ts'],
  },
  {
    fault: 'every process that takes over looks for all events of all times again',
    file: 'services/sweeper/owed-events.ts',
    original: '      await looks.modify({ _id: EVENT_LOOK_ID }, { $max: { until } }, { upsert: true })\n',
    planted: '',
    tests: ['test/services/sweeper/owed-events.test.ts'],
  },
]
