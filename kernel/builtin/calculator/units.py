"""The units that the calculator knows: their factors are exact, their names English, Chinese and symbols."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from kernel.builtin.calculator.reals import PI

Dimension = tuple[int, int, int, int, int, int, int]
"""Exponents of metre, kilogram, second, kelvin, mole, byte, degree of angle."""

PLAIN: Dimension = (0, 0, 0, 0, 0, 0, 0)
ANGLE: Dimension = (0, 0, 0, 0, 0, 0, 1)
MASS: Dimension = (0, 1, 0, 0, 0, 0, 0)
AMOUNT: Dimension = (0, 0, 0, 0, 1, 0, 0)

_ROWS: tuple[tuple[Dimension, str], ...] = (
    # Of each line: the symbol, its factor to the SI unit, further names.
    (
        (1, 0, 0, 0, 0, 0, 0),
        """
        m 1 meter meters metre metres 米
        km 1000 kilometer kilometers kilometre kilometres 公里 千米
        dm 1/10 分米
        cm 1/100 centimeter centimeters centimetre centimetres 厘米 公分
        mm 1/1000 millimeter millimeters millimetre millimetres 毫米
        μm 1/1000000 um micrometer micrometers micron microns 微米
        nm 1/1000000000 nanometer nanometers 纳米
        in 0.0254 inch inches 英寸
        ft 0.3048 foot feet 英尺
        yd 0.9144 yard yards 码
        mi 1609.344 mile miles 英里
        nmi 1852 海里
        里 500 华里
        尺 1/3 市尺
        寸 1/30 市寸
        """,
    ),
    (
        (2, 0, 0, 0, 0, 0, 0),
        """
        ha 10000 hectare hectares 公顷
        acre 4046.8564224 acres 英亩
        sqm 1 平方米 平米
        sqkm 1000000 平方公里 平方千米
        sqft 0.09290304 平方英尺
        亩 2000/3 mu
        """,
    ),
    (
        (3, 0, 0, 0, 0, 0, 0),
        """
        L 1/1000 l liter liters litre litres 升 公升
        dL 1/10000 dl 分升
        cL 1/100000 cl 厘升
        mL 1/1000000 ml cc milliliter milliliters millilitre millilitres 毫升
        μL 1/1000000000 uL ul μl 微升
        fL 1/1000000000000000000 fl 飞升
        立方米 1
        gal 0.003785411784 gallon gallons 加仑
        qt 0.000946352946 quart quarts
        cup 0.0002365882365 cups
        floz 0.0000295735295625
        tbsp 0.00001478676478125 tablespoon tablespoons
        tsp 0.00000492892159375 teaspoon teaspoons
        """,
    ),
    (
        MASS,
        """
        kg 1 kilogram kilograms 公斤 千克
        g 1/1000 gram grams 克
        mg 1/1000000 milligram milligrams 毫克
        μg 1/1000000000 ug mcg microgram micrograms 微克
        ng 1/1000000000000 nanogram nanograms 纳克
        pg 1/1000000000000000 皮克
        t 1000 tonne tonnes ton tons 吨
        lb 0.45359237 lbs pound pounds 磅
        oz 0.028349523125 ounce ounces 盎司
        斤 1/2 市斤
        两 1/20
        """,
    ),
    (
        (0, 0, 1, 0, 0, 0, 0),
        """
        s 1 sec secs second seconds 秒 秒钟
        ms 1/1000 millisecond milliseconds 毫秒
        min 60 mins minute minutes 分钟 分
        h 3600 hr hrs hour hours 小时 个小时 钟头
        d 86400 day days 天
        wk 604800 week weeks 周 星期
        """,
    ),
    ((0, 0, -1, 0, 0, 0, 0), "Hz 1 hertz\nkHz 1000\nMHz 1000000\nGHz 1000000000\nrpm 1/60\nbpm 1/60"),
    ((1, 0, -1, 0, 0, 0, 0), "kmh 5/18 kph\nmph 0.44704\nkn 463/900 knot knots 节"),
    ((0, 0, 0, 1, 0, 0, 0), "K 1 kelvin 开尔文"),
    (AMOUNT, "mol 1 摩尔\nmmol 1/1000 毫摩尔\nμmol 1/1000000 umol 微摩尔\nnmol 1/1000000000\npmol 1/1000000000000"),
    ((1, 1, -2, 0, 0, 0, 0), "N 1 newton newtons 牛顿\nkN 1000"),
    (
        (-1, 1, -2, 0, 0, 0, 0),
        """
        Pa 1 pascal 帕
        hPa 100 百帕
        kPa 1000 千帕
        MPa 1000000 兆帕
        bar 100000
        mbar 100
        atm 101325
        mmHg 133.322387415 毫米汞柱
        cmH2O 98.0665 厘米水柱
        psi 6894.757293168
        """,
    ),
    (
        (2, 1, -2, 0, 0, 0, 0),
        """
        J 1 joule joules 焦 焦耳
        kJ 1000 千焦
        MJ 1000000
        cal 4.184 卡
        kcal 4184 大卡 千卡
        Wh 3600
        kWh 3600000 千瓦时
        """,
    ),
    ((2, 1, -3, 0, 0, 0, 0), "W 1 watt watts 瓦\nkW 1000 千瓦\nMW 1000000\nhp 745.69987158227022 马力"),
    (
        (0, 0, 0, 0, 0, 1, 0),
        """
        B 1 byte bytes 字节
        kB 1000 KB
        MB 1000000
        GB 1000000000
        TB 1000000000000
        KiB 1024
        MiB 1048576
        GiB 1073741824
        TiB 1099511627776
        bit 1/8 bits 比特
        kbit 125 kb Kb
        Mbit 125000 Mb
        Gbit 125000000 Gb
        """,
    ),
    (ANGLE, f"deg 1 degree degrees °\nrad {180 / PI} radian radians"),
)

_TEMPERATURES = (
    ("°C", Fraction(1), Fraction("273.15"), ("C", "celsius", "Celsius", "摄氏度")),
    ("°F", Fraction(5, 9), Fraction("459.67") * 5 / 9, ("F", "fahrenheit", "Fahrenheit", "华氏度")),
)

MOLAR_MASSES = {
    # kg/mol, to turn what a laboratory writes as mg/dL into mmol/L and back.
    "glucose": Fraction("0.180156"),
    "cholesterol": Fraction("0.38665"),
    "triglycerides": Fraction("0.8857"),
    "creatinine": Fraction("0.11312"),
    "urea": Fraction("0.060056"),
    "bilirubin": Fraction("0.58466"),
    "calcium": Fraction("0.040078"),
    "血糖": Fraction("0.180156"),
    "葡萄糖": Fraction("0.180156"),
    "胆固醇": Fraction("0.38665"),
    "甘油三酯": Fraction("0.8857"),
    "肌酐": Fraction("0.11312"),
    "尿素": Fraction("0.060056"),
    "尿酸": Fraction("0.16811"),
    "胆红素": Fraction("0.58466"),
    "钙": Fraction("0.040078"),
    "uric_acid": Fraction("0.16811"),
}


@dataclass(frozen=True, slots=True)
class Unit:
    """One unit: so many SI units, counted from `zero` (only a temperature scale's is not 0)."""

    symbol: str
    factor: Fraction
    dimension: Dimension
    zero: Fraction = Fraction(0)

    @property
    def is_exact(self) -> bool:
        """Whether the factor is; a radian's is not."""
        return self.symbol != "rad"


@cache
def units() -> dict[str, Unit]:
    """Every unit by each of its names."""
    known: dict[str, Unit] = {}
    for dimension, block in _ROWS:
        for line in block.strip().splitlines():
            symbol, factor, *names = line.split()
            unit = Unit(symbol, Fraction(factor), dimension)
            known |= dict.fromkeys((symbol, *names), unit)
    for symbol, factor_k, zero, aliases in _TEMPERATURES:
        unit = Unit(symbol, factor_k, (0, 0, 0, 1, 0, 0, 0), zero)
        known |= dict.fromkeys((symbol, *aliases), unit)
    return known


@cache
def _by_lower_case() -> dict[str, Unit | None]:
    """Units by names in lower case; None where two units share one (Mb, MB)."""
    found: dict[str, Unit | None] = {}
    for name, unit in units().items():
        lower = name.lower()
        found[lower] = unit if found.get(lower, unit) is unit else None
    return found


def find_unit(name: str) -> Unit | None:
    """The unit of that name; other capitals are forgiven in names of two letters and more, where only one fits."""
    exact = units().get(name)
    return exact if exact or len(name) < 2 else _by_lower_case().get(name.lower())
