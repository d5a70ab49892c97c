"""The schedule language: a chat message in Chinese or English in, a `ScheduleIntent` out; no clock, no network.

`kernel.schedule.parse.parse` reads a message, `kernel.schedule.reading.describe` says a schedule in words. Nothing is
imported here: who only needs the values does not load the grammar.
"""
