"""dbt's date macros in plain Python, for date, timestamp, timestamp_ntz and text."""

from __future__ import annotations

import calendar
import datetime as dt
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation, localcontext
from zoneinfo import ZoneInfo

SECOND = dt.timedelta(seconds=1)
CLOCK = {
    "hour": 3600 * SECOND,
    "minute": 60 * SECOND,
    "second": SECOND,
    "millisecond": SECOND / 1000,
    "microsecond": SECOND / 1_000_000,
}
MONTHS = {"month": 1, "quarter": 3, "year": 12}
DAYS = {"day": 1, "week": 7}
PARTS = (*MONTHS, *DAYS, *CLOCK)


class Clock:
    """The macros in a session's time zone.

    A moment is a naive datetime for a timestamp_ntz, else an aware one in UTC.
    """

    def __init__(self, zone: str) -> None:
        self.zone = ZoneInfo(zone)

    def local(self, moment: dt.datetime) -> dt.datetime:
        """The local time in this zone."""
        return moment if moment.tzinfo is None else moment.astimezone(self.zone).replace(tzinfo=None)

    def instant(self, local: dt.datetime) -> dt.datetime:
        """The instant of a local time; a time that a clock change skips moves forward by the length of the gap."""
        return local.replace(tzinfo=self.zone).astimezone(dt.timezone.utc)

    def like(self, local: dt.datetime, moment: dt.datetime) -> dt.datetime:
        """A local time as a moment of the same kind (naive or aware) as `moment`."""
        return local if moment.tzinfo is None else self.instant(local)

    def dateadd(self, part: str, number: int, moment: dt.datetime) -> dt.datetime:
        """The moment `number` parts later; raises OverflowError before year 1 and after 9999."""
        if part in CLOCK:
            return moment + number * CLOCK[part]
        local = self.local(moment)
        if part in DAYS:
            return self.like(local + dt.timedelta(days=number * DAYS[part]), moment)
        return self.like(plus_months(local, number * MONTHS[part]), moment)

    def date_trunc(self, part: str, moment: dt.datetime) -> dt.datetime:
        """The beginning of a part; a week begins on Monday."""
        local = self.local(moment)
        day = dt.datetime.combine(local.date(), dt.time())
        if part in CLOCK:
            return moment - (local - day) % CLOCK[part]
        if part == "day":
            return self.like(day, moment)
        if part == "week":
            return self.like(day - dt.timedelta(days=day.weekday()), moment)
        months = MONTHS[part]
        return self.like(day.replace(day=1, month=(day.month - 1) // months * months + 1), moment)

    def datediff(self, first: dt.datetime, second: dt.datetime, part: str) -> int:
        """The number of boundaries between two moments; a week begins on Sunday."""
        if part in CLOCK:
            if first.tzinfo is None or second.tzinfo is None:
                first, second = self.local(first), self.local(second)
            return (self.date_trunc(part, second) - self.date_trunc(part, first)) // CLOCK[part]
        one, other = (self.local(moment).date() for moment in (first, second))
        if part == "day":
            return (other - one).days
        if part == "week":
            return other.toordinal() // 7 - one.toordinal() // 7
        months = MONTHS[part]
        return (other.year * 12 + other.month - 1) // months - (one.year * 12 + one.month - 1) // months

    def last_day(self, part: str, moment: dt.datetime) -> dt.date:
        """The last day of a month, quarter, year or week (from Monday to Sunday); of a day, that day."""
        day = self.local(moment).date()
        if part == "day":
            return day
        if part == "week":
            return day + dt.timedelta(days=6 - day.weekday())
        months = MONTHS[part]
        last = (day.month + months - 1) // months * months
        return dt.date(day.year, last, calendar.monthrange(day.year, last)[1])

    def text(self, value: object) -> str | None:
        """A value as Spark writes it in this session."""
        if isinstance(value, dt.datetime):
            local = self.local(value)
            shown = local.isoformat(" ", "microseconds" if local.microsecond else "seconds")
            return shown.rstrip("0") if local.microsecond else shown
        return None if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def plus_months(local: dt.datetime, months: int) -> dt.datetime:
    """A local time some months later, or the last day of that month if the month is too short."""
    count = local.year * 12 + local.month - 1 + months
    year, month = count // 12, count % 12 + 1
    if not dt.MINYEAR <= year <= dt.MAXYEAR:
        raise OverflowError(year)
    return local.replace(year=year, month=month, day=min(local.day, calendar.monthrange(year, month)[1]))


def as_integer(value: Decimal | float | str, bits: int) -> int | None:
    """A value as an integer of `bits` bits; None if it does not fit. A string must be a whole number."""
    try:
        number = int(value) if not isinstance(value, str) else int(value.strip())
    except (ValueError, OverflowError):
        return None
    return number if -(2 ** (bits - 1)) <= number < 2 ** (bits - 1) else None


def as_decimal(value: Decimal | float | str, precision: int, scale: int) -> Decimal | None:
    """A value as a decimal(precision,scale), rounded; None if it does not fit."""
    with localcontext() as context:
        context.prec = 400
        try:
            number = Decimal(repr(value) if isinstance(value, float) else str(value).strip())
            number = number.quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP)
        except InvalidOperation:
            return None
        # Spark's decimals have no -0.
        return number + 0 if abs(number) < 10 ** (precision - scale) else None
